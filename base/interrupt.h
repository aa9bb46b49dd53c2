/* interrupt.h - on Ctrl-C (SIGINT) and SIGTERM kill the child process, remove incomplete files,
 * exit with 130. This can happen at any point of a run, so the signal handler does it instead of
 * returning a status; besides app/heddle.c only that handler exits. */
#ifndef HEDDLE_BASE_INTERRUPT_H
#define HEDDLE_BASE_INTERRUPT_H

#include <sys/types.h>

/* Catch signals from now on; without this call the functions below do nothing, so that several
 * threads may run networks. A child process that is forked later must call interrupt_leave. */
void interrupt_catch(void);

/* In a child: leave Ctrl-C to the parent, which then kills this process. */
void interrupt_leave(void);

/* Set the child to kill; 0: none. */
void interrupt_child(pid_t pid);

/* fork() for a program that starts others (make): the child leads a process group, which is killed
 * as a whole, until interrupt_child(0). */
pid_t interrupt_fork(void);

/* The folder `path` is incomplete from now on; NULL: no longer. One at a time. */
void interrupt_folder(const char *path);

/* Set a shell script to run first on an interrupt; NULL: none. */
void interrupt_script(const char *path);

/* `path` is incomplete from now on, until interrupt_file_done(path) or an interrupt removes it. At
 * most 4 at once; further ones, and names longer than PATH_MAX, are not removed. */
void interrupt_file(const char *path);
void interrupt_file_done(const char *path);

#endif
