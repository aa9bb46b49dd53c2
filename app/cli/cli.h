/* cli.h - the parts of the command line. Like heddle.c they use only include/heddle/heddle.h. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include <argp.h>
#include <stddef.h>

#include "include/heddle/heddle.h"

/* A command's line: printed first by `heddle COMMAND --help`, and in the list of `heddle
 * --help`. */
struct cli_command {
    const char *name, *argument, *what;
};

struct cli_say;

struct cli {
    struct heddle *h;
    struct cli_say *say;
    const struct heddle_option *option;
    size_t n_option;
    struct argp_option *row; /* the options in argp's form, then titles */
    const char *command;
    const char **argument;
    size_t n_argument;
    enum heddle_code code;
    char wrong[160]; /* with code: an error that the library does not report */
};

/* --- help.c --- */

/* The last name is NULL. */
extern const struct cli_command cli_commands[];
extern const char cli_about[], cli_after[];
/* Titles of the groups of options, by enum heddle_group; NULL: the group has none. */
const char *cli_group_title(int group);
/* Return the command as typed, or NULL. */
const struct cli_command *cli_typed_command(int argc, char **argv);
/* Return the row that argp selects for --`name`: the exact one, or the only one with that
 * prefix. */
const struct heddle_option *cli_row_of(const struct cli *p, const char *name, size_t n);
/* Answer help, --help, --usage and --version: 1 if one was asked for. */
int cli_asks_for_help(struct cli *p, int argc, char **argv);

/* Return true if a command's help shows the option; the second: if the command uses it. */
int cli_shows(const struct cli_command *c, const struct heddle_option *o);

/* --- completion.c, man.c: 1 if argv is "completion ..." or "man ..."; p->code is then the
 * result */
int cli_asks_for_completion(struct cli *p, int argc, char **argv);
int cli_asks_for_man(struct cli *p, int argc, char **argv);

/* --- say.c --- */

/* Destinations of texts. On a terminal progress overwrites the previous line; elsewhere a line
 * appears every 10 s, so that a log shows the state. */
struct cli_say {
    int colour_out, colour_err, terminal; /* of standard error */
    double last;                          /* time of the last line of progress, or of the start */
    int any;                              /* true if progress was printed since the last result */
};
void cli_say_init(struct cli_say *s);
void cli_say(void *ctx, enum heddle_text kind, const char *text);
void cli_say_error(const struct cli_say *s, const char *text);

#endif
