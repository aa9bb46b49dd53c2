/* cli.h - the parts of the command line. Like heddle.c they know include/heddle/heddle.h only. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include <argp.h>
#include <stddef.h>

#include "include/heddle/heddle.h"

/* The text that `heddle COMMAND --help` prints first, and `heddle --help` in its list. */
struct cli_command {
    const char *name, *argument, *what;
};

struct cli_say;

struct cli {
    struct heddle *h;
    struct cli_say *say;
    const struct heddle_option *option;
    size_t n_option;
    struct argp_option *row; /* the same as argp wants it, then titles */
    const char *command;
    const char **argument;
    size_t n_argument;
    enum heddle_code code;
    char wrong[160]; /* with code: what the library does not know of */
};

/* --- help.c --- */

/* Name NULL at the end. */
extern const struct cli_command cli_commands[];
extern const char cli_about[], cli_after[];
/* Titles of the groups of options, by enum heddle_group; NULL: no such group. */
const char *cli_group_title(int group);
/* The command that is typed, NULL if there is none yet. */
const struct cli_command *cli_typed_command(int argc, char **argv);
/* The row that argp takes for --`name`: the exact one, or the only one that begins so. */
const struct heddle_option *cli_row_of(const struct cli *p, const char *name, size_t n);
/* Answer help, --help, --usage and --version: 1 if one was asked for. */
int cli_asks_for_help(struct cli *p, int argc, char **argv);

/* Return true if a command's help shows the option; true if the command uses it. */
int cli_shows(const struct cli_command *c, const struct heddle_option *o);

/* --- completion.c, man.c: 1 if argv is "completion ..." or "man ..."; p->code then has the result */
int cli_asks_for_completion(struct cli *p, int argc, char **argv);
int cli_asks_for_man(struct cli *p, int argc, char **argv);

/* --- say.c --- */

/* The destinations of texts. Progress on a terminal replaces the line before; elsewhere a line
 * of it appears after each 10 s, so that a log shows where it is. */
struct cli_say {
    int colour_out, colour_err, terminal; /* of standard error */
    double last;                          /* when the last line of progress was written, or began */
    int any;                              /* one was written since the last result */
};
void cli_say_init(struct cli_say *s);
void cli_say(void *ctx, enum heddle_text kind, const char *text);
void cli_say_error(const struct cli_say *s, const char *text);

#endif
