/* heddle.c - the command line: argv to calls of libheddle (include/heddle/heddle.h), its results to
 * exit codes. glibc's argp uses the library's table of options; cli/ has help and streams. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define KEY_FIRST 256 /* key of options without a letter: this + index in the library's table */

/* --- phase one: find the targets, so that their options exist --- */

static const char *const first[] = {"target-dir", "uma-backends", "experimental-tvm-extension",
                                    "target", NULL};

static int is_first(const char *name)
{
    for (int i = 0; first[i]; i++)
        if (strcmp(first[i], name) == 0)
            return 1;
    return 0;
}

/* Return the value of argv[*i] if it is --`name` VALUE or --`name`=VALUE, otherwise NULL. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    const char *s = argv[*i];
    size_t n = strlen(name);

    if (strncmp(s, "--", 2) != 0 || strncmp(s + 2, name, n) != 0)
        return NULL;
    if (s[2 + n] == '=')
        return s + 3 + n;
    return s[2 + n] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

static void find_targets(struct cli *p, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && p->code == HEDDLE_OK; i++)
        for (int k = 0; first[k] && i < argc && p->code == HEDDLE_OK; k++) {
            const char *value = value_of(first[k], argc, argv, &i);
            if (value)
                p->code = heddle_set(p->h, first[k], value);
        }
}

/* --- phase two: all options, by argp --- */

static const struct heddle_option *option_of(const struct cli *p, int key)
{
    for (size_t i = 0; i < p->n_option; i++)
        if (p->row[i].key == key)
            return &p->option[i];
    return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct cli *p = state->input;
    const struct heddle_option *o = option_of(p, key);

    if (p->code != HEDDLE_OK)
        return 0;
    if (o && !is_first(o->name))
        p->code = heddle_set(p->h, o->name, arg);
    if (o && strcmp(o->name, "quiet") == 0 && p->code == HEDDLE_OK)
        heddle_on_text(p->h, HEDDLE_TEXT_RESULT | HEDDLE_TEXT_NOTE, cli_say, p->say);
    if (o)
        return 0;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (!p->command)
        p->command = arg;
    else
        p->argument[p->n_argument++] = arg;
    return 0;
}

/* Make argp's table: the library's rows in their order, then room for titles. */
static int make_table(struct cli *p)
{
    size_t n = 0;

    p->row = calloc(p->n_option + HEDDLE_GROUP_TARGETS + 1, sizeof *p->row);
    if (!p->row)
        return 0;
    for (size_t i = 0; i < p->n_option; i++) {
        const struct heddle_option *o = &p->option[i];
        p->row[n++] = (struct argp_option){.name = o->name,
                                           .key = o->letter ? o->letter : KEY_FIRST + (int)i,
                                           .arg = o->value,
                                           .flags = (o->hidden ? OPTION_HIDDEN : 0) |
                                                    (o->help || o->hidden ? 0 : OPTION_ALIAS),
                                           .doc = o->help,
                                           .group = (int)o->group};
    }
    return 1;
}

/* Report an argument that argp refused; the library explains the error. */
static enum heddle_code refused(const struct cli *p, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        char name[256];
        const char *s = argv[i];
        if (s[0] == '-' && s[1] != '\0' && s[1] != '-') { /* -x, or -i without a value */
            const struct heddle_option *o = option_of(p, s[1]);
            if (!o || (o->value && s[2] == '\0' && i + 1 == argc))
                return heddle_set(p->h, (char[]){s[1], '\0'}, NULL);
        }
        if (s[0] != '-' || s[1] != '-')
            continue;
        size_t n = strcspn(s + 2, "=");
        const struct heddle_option *o = cli_row_of(p, s + 2, n);
        snprintf(name, sizeof name, "%.*s", (int)(n < 200 ? n : 200), s + 2);
        if (!o)
            return heddle_set(p->h, name, NULL);
        if (s[2 + n] != '=' && o->value && ++i == argc)
            return heddle_set(p->h, o->name, NULL);
        if (s[2 + n] == '=' && !o->value)
            return heddle_set(p->h, o->name, s + 3 + n);
    }
    return heddle_set(p->h, "-", NULL);
}

static enum heddle_code parse_and_do(struct cli *p, int argc, char **argv)
{
    find_targets(p, argc, argv);
    if (p->code != HEDDLE_OK)
        return p->code;
    p->option = heddle_options(p->h, &p->n_option);
    p->argument = calloc((size_t)argc + 1, sizeof *p->argument);
    if (!p->option || !p->argument || !make_table(p))
        return HEDDLE_INTERNAL;
    const struct argp argp = {p->row, parse_option, NULL, NULL, NULL, NULL, NULL};
    if (cli_asks_for_help(p, argc, argv) || cli_asks_for_completion(p, argc, argv) ||
        cli_asks_for_man(p, argc, argv))
        return p->code;
    if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_NO_ERRS, NULL, p) != 0 &&
        p->code == HEDDLE_OK)
        return refused(p, argc, argv);
    return p->code != HEDDLE_OK ? p->code
                                : heddle_command(p->h, p->command, p->argument, p->n_argument);
}

int main(int argc, char **argv)
{
    struct cli p = {.h = heddle_new()};
    struct cli_say say;

    if (!p.h) {
        fputs("heddle: out of memory\n", stderr);
        return HEDDLE_INTERNAL;
    }
    heddle_exit_on_interrupt();
    (void)signal(SIGXFSZ, SIG_IGN); /* without this, a write beyond ulimit -f would kill the
                                     * process; now it fails as on a full disk */
    cli_say_init(&say);
    p.say = &say;
    heddle_on_text(p.h, HEDDLE_TEXT_RESULT | HEDDLE_TEXT_NOTE | HEDDLE_TEXT_PROGRESS, cli_say,
                   &say);
    int code = (int)parse_and_do(&p, argc, argv);
    const char *error = *p.wrong ? p.wrong : heddle_error(p.h);
    if (code == HEDDLE_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        error = "standard output cannot be written";
        code = HEDDLE_INTERNAL;
    }
    if (code != HEDDLE_OK)
        cli_say_error(&say, *error ? error : "out of memory");
    heddle_free(p.h);
    free(p.row);
    free(p.argument);
    return code;
}
