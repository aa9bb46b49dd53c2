/* interrupt.h - Ctrl-C (SIGINT) and SIGTERM: kill the child process, remove half-written files,
 * exit with 130. From any point of a run, so it happens in the signal handler and is not passed
 * up as a status; that handler is the one place in addition to app/heddle.c that exits. */
#ifndef HEDDLE_BASE_INTERRUPT_H
#define HEDDLE_BASE_INTERRUPT_H

#include <sys/types.h>

/* From now on; without it the functions below keep nothing, so that several threads
 * may run networks. A child process that is forked later must call interrupt_leave. */
void interrupt_catch(void);

/* In a child: Ctrl-C is the parent's business, which then kills this process. */
void interrupt_leave(void);

/* The child to kill; 0: none any more. */
void interrupt_child(pid_t pid);

/* fork() for a program that starts others (make): the child leads a process group of its own, which
 * is killed as a whole, until interrupt_child(0). */
pid_t interrupt_fork(void);

/* The folder `path` is half filled from here on; NULL: no longer. One at a time. */
void interrupt_folder(const char *path);

/* A shell script to run on an interrupt, before all else; NULL: none any more. */
void interrupt_script(const char *path);

/* `path` is half written from here on, until interrupt_file_done(path) or an interrupt removes it.
 * At most 4 at once; more, or a longer name than PATH_MAX, are left where they are. */
void interrupt_file(const char *path);
void interrupt_file_done(const char *path);

#endif
