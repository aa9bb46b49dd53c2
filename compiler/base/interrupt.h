/* interrupt.h - Ctrl-C (SIGINT) and SIGTERM: kill the child process, remove files half written,
 * exit with 130. From any point of a run, so it happens in the signal handler and is not passed up
 * as a status; that handler is the one place beside main.c that exits. */
#ifndef HEDDLE_BASE_INTERRUPT_H
#define HEDDLE_BASE_INTERRUPT_H

#include <sys/types.h>

/* From now on. A child process that is forked later must call interrupt_leave. */
void interrupt_catch(void);

/* In a child: Ctrl-C is the parent's business, which then kills this process. */
void interrupt_leave(void);

/* The child to kill; 0: none any more. */
void interrupt_child(pid_t pid);

/* `path` is half written from here on, until interrupt_file_done(path) or an interrupt removes it.
 * At most 4 at once; more, or a longer name than PATH_MAX, are left where they are. */
void interrupt_file(const char *path);
void interrupt_file_done(const char *path);

#endif
