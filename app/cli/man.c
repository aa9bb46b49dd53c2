/* man.c - "heddle man [COMMAND]": the manual page in man(7), from the same tables as --help.
 * heddle(1) lists the commands, heddle-COMMAND(1) the options of one. Attributes of targets depend
 * on the targets found at run time, and are not listed. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Print text for man(7) with troff's special characters escaped. */
static void text(const char *s)
{
    const char *line = s;

    for (; *s; s++) {
        if (s == line && (*s == '.' || *s == '\''))
            fputs("\\&", stdout);
        if (*s == '-' || *s == '\\')
            fputs(*s == '-' ? "\\-" : "\\e", stdout);
        else
            putchar(*s);
        if (*s == '\n')
            line = s + 1;
    }
}

static void section(const char *kind, const char *title)
{
    printf(".%s ", kind);
    text(title);
    putchar('\n');
}

static void begin(const char *name, const char *what)
{
    printf(".\\\" written by heddle man\n.TH \"");
    for (const char *s = name; *s; s++)
        printf("%c", *s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
    printf("\" 1 \"\" \"heddle %s\" \"heddle\"\n", heddle_version());
    section("SH", "NAME");
    text(name);
    fputs(" \\- ", stdout);
    text(what);
    putchar('\n');
    section("SH", "SYNOPSIS");
}

/* Print the text that follows the exit codes and examples of --help, as typed. */
static void as_typed(const char *s)
{
    puts(".nf");
    text(s);
    puts(".fi");
}

static void page_of_all(void)
{
    begin("heddle", "compile, run and prove quantised networks on a simulated accelerator");
    puts("\\fBheddle\\fR \\fICOMMAND\\fR [\\fIMODEL\\fR] [\\fIOPTION\\fR...]");
    section("SH", "DESCRIPTION");
    text(cli_about);
    putchar('\n');
    section("SH", "COMMANDS");
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        fputs(".TP\n\\fB", stdout);
        text(c->name);
        printf("\\fR \\fI%s\\fR\n", c->argument);
        text(c->what);
        putchar('\n');
    }
    section("SH", "NOTES");
    as_typed(cli_after);
}

/* A row without help is another name of the previous row. */
static void option(const struct heddle_option *o, const struct heddle_option *other)
{
    fputs(".TP\n", stdout);
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    for (; o; o = other, other = NULL) {
        fputs("\\fB\\-\\-", stdout);
        text(o->name);
        fputs("\\fR", stdout);
        if (o->value)
            printf("=\\fI%s\\fR", o->value);
        fputs(other ? ", " : "\n", stdout);
    }
}

static void options(const struct cli *p, const struct cli_command *c)
{
    for (int group = HEDDLE_GROUP_FILES; group < HEDDLE_GROUP_TARGETS; group++) {
        int titled = 0;
        for (size_t i = 0; i < p->n_option; i++) {
            const struct heddle_option *o = &p->option[i], *next = o + 1;
            if ((int)o->group != group || !o->help || !cli_shows(c, o))
                continue;
            if (!titled++)
                section("SS", cli_group_title(group));
            const int same = i + 1 < p->n_option && !next->help && !next->hidden;
            option(o, same ? next : NULL);
            text(o->help);
            putchar('\n');
        }
    }
}

static void page_of(const struct cli *p, const struct cli_command *c)
{
    char name[64];

    snprintf(name, sizeof name, "heddle-%s", c->name);
    begin(name, c->what);
    fputs("\\fBheddle ", stdout);
    text(c->name);
    printf("\\fR \\fI%s\\fR [\\fIOPTION\\fR...]\n", c->argument);
    section("SH", "OPTIONS");
    options(p, c);
    section("SH", "SEE ALSO");
    puts("\\fBheddle\\fR(1)");
}

int cli_asks_for_man(struct cli *p, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "man") != 0)
        return 0;
    const struct cli_command *c = argc > 2 ? cli_typed_command(2, argv + 1) : NULL;
    if (c) {
        page_of(p, c);
    } else if (argc == 2) {
        page_of_all();
    } else {
        snprintf(p->wrong, sizeof p->wrong,
                 "man: found '%.60s', expected a command of heddle --help", argv[2]);
        p->code = HEDDLE_USAGE;
    }
    return 1;
}
