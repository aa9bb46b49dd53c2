/* heddle.c - the command line: argv to calls of libheddle (include/heddle/heddle.h), its texts to
 * the streams, its results to exit codes. glibc's argp reads the table that the library has. */
#define _GNU_SOURCE
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/heddle/heddle.h"

#define KEY_FIRST 256 /* of options without a letter: + place in the library's table */

/* What `heddle COMMAND --help` prints first, and `heddle --help` in its list. */
static const struct command {
    const char *name, *argument, *what;
} commands[] = {
    {"run", "MODEL", "compile, run, compare with the reference, report"},
    {"compile", "MODEL", "write the emitted C to -o DIR"},
    {"inspect", "MODEL", "where each operator runs, and why not on the others"},
    {"disasm", "MODEL", "the command stream as text"},
    {"build", "", "the Verilated model of --hw"},
    {"targets", "", "the targets that were found, and what they support"},
    {"ops", "", "the operators, and what runs them"},
    {"report", "FILE", "a stats file as a table"},
    {"bench", "LAYER",
     "one layer with seeded weights: gemm M K N, conv HxWxC KHxKWxN [STRIDE], depthwise HxWxC "
     "KHxKW "
     "[STRIDE]"},
    {"new-target", "NAME", "a folder with a target of your own that passes check-target"},
    {"check-target", "DIR", "does a target do what its target.json specifies?"},
    {"tune", "MODEL", "search knobs of each operator, measured on the RTL, into --tuned=FILE"},
    {"completion", "", "for bash: source <(heddle completion)"},
    {NULL, NULL, NULL}};

static const char doc_head[] =
    "Compiles a quantised network for a simulated systolic accelerator, runs "
    "it, proves the answer.\vCommands:\n";
static const char doc_tail[] =
    "heddle COMMAND --help lists the options of that command; heddle --version prints the "
    "version.\n"
    "MODEL is a .tflite or .onnx file, a graph as text (.ir) or the name of a network in "
    "tests/models.\n"
    "\nExamples:\n"
    "  heddle run digits\n"
    "  heddle run net.tflite -i in.npy --expect out.npy --hw tiny -o out\n"
    "  heddle run net.tflite --engine func --stats stats.json\n"
    "  heddle run digits --waves=layer:02_depthwise_conv2d -o out\n"
    "  heddle run --prog driver/examples/matmul.c\n"
    "  heddle inspect net.tflite\n"
    "  heddle bench gemm 128 128 128 --hw sys8\n"
    "  heddle compile net.tflite -o emitted\n"
    "  heddle tune net.tflite -j4 --tuned=net.db && heddle run net.tflite --tuned=net.db\n"
    "\nExit codes: 0 ok, 1 answer differs, 2 usage or files, 3 model refused, "
    "4 device fault, 5 internal, 130 interrupted.";

struct parse {
    struct heddle *h;
    const struct heddle_option *option;
    size_t n_option;
    struct argp_option *row; /* the same as argp wants it */
    const char *command;
    const char **argument;
    size_t n_argument;
    enum heddle_code code;
};

static void say(void *ctx, enum heddle_text kind, const char *text)
{
    (void)ctx;
    if (kind == HEDDLE_TEXT_RESULT) {
        fputs(text, stdout);
        fflush(stdout); /* a pipe sees the trials of tune as they end */
    } else if (kind == HEDDLE_TEXT_NOTE) {
        fprintf(stderr, "heddle: %s\n", text);
    } else {
        fprintf(stderr, "\r\033[K%s", text);
        fflush(stderr);
    }
}

/* --- phase one: where targets are, and which, so that their options exist --- */

static const char *const first[] = {"target-dir", "uma-backends", "experimental-tvm-extension",
                                    "target", NULL};

static int is_first(const char *name)
{
    for (int i = 0; first[i]; i++)
        if (strcmp(first[i], name) == 0)
            return 1;
    return 0;
}

/* The value of argv[*i] if it is --`name` VALUE or --`name`=VALUE, else NULL. */
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

static void find_targets(struct parse *p, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0 && p->code == HEDDLE_OK; i++)
        for (int k = 0; first[k] && i < argc && p->code == HEDDLE_OK; k++) {
            const char *value = value_of(first[k], argc, argv, &i);
            if (value)
                p->code = heddle_set(p->h, first[k], value);
        }
}

/* --- phase two: all options, by argp --- */

static const struct heddle_option *option_of(const struct parse *p, int key)
{
    for (size_t i = 0; i < p->n_option; i++)
        if (p->row[i].key == key)
            return &p->option[i];
    return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    const struct heddle_option *o = option_of(p, key);

    if (p->code != HEDDLE_OK)
        return 0;
    if (o && !is_first(o->name))
        p->code = heddle_set(p->h, o->name, arg);
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

/* argp's table: the library's rows in their order, a title above those of targets. */
static int make_table(struct parse *p)
{
    size_t n = 0;

    p->row = calloc(p->n_option + 2, sizeof *p->row);
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
                                           .group = o->group};
    }
    p->row[n] =
        (struct argp_option){.doc = "Attributes of targets:", .group = HEDDLE_GROUP_TARGETS};
    return 1;
}

/* The row that argp takes for --`name`: the exact one, or the only one that begins so. */
static const struct heddle_option *row_of(const struct parse *p, const char *name, size_t n)
{
    const struct heddle_option *found = NULL;
    unsigned many = 0;

    for (size_t i = 0; i < p->n_option; i++) {
        const struct heddle_option *o = &p->option[i];
        if (strncmp(o->name, name, n) != 0)
            continue;
        if (o->name[n] == '\0')
            return o;
        many++;
        found = o;
    }
    return many == 1 ? found : NULL;
}

/* What argp refused; the library states what is wrong with it. */
static enum heddle_code refused(const struct parse *p, int argc, char **argv)
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
        const struct heddle_option *o = row_of(p, s + 2, n);
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

/* The command that is typed, NULL if there is none yet. */
static const struct command *typed_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const struct command *c = commands; c->name; c++)
            if (strcmp(c->name, argv[i]) == 0)
                return c;
    return NULL;
}

/* Everything, or what one command has. */
static void help(struct parse *p, const struct command *only, int usage, char *program)
{
    static char text[8192], arguments[64] = "COMMAND [MODEL]"; /* the process ends after it */
    size_t n = (size_t)snprintf(text, sizeof text, "%s", only ? only->what : doc_head);

    for (const struct command *c = commands; !only && c->name; c++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  %s %s%*s %s\n", c->name, c->argument,
                              (int)(strlen(c->name) + strlen(c->argument) < 14
                                        ? 14 - strlen(c->name) - strlen(c->argument)
                                        : 0),
                              "", c->what);
    if (only)
        snprintf(arguments, sizeof arguments, "%s%s%s", only->name, *only->argument ? " " : "",
                 only->argument);
    else
        snprintf(text + n, sizeof text - n, "%s", doc_tail);
    for (size_t i = 0; only && i < p->n_option; i++)
        if (!heddle_uses(only->name, p->option[i].name))
            p->row[i].flags |= OPTION_HIDDEN;
    if (only && !heddle_uses(only->name, "target"))
        p->row[p->n_option] = (struct argp_option){0}; /* no title of their attributes */
    const struct argp argp = {p->row, parse_option, arguments, text, NULL, NULL, NULL};
    argp_help(&argp, stdout, usage ? ARGP_HELP_SHORT_USAGE : ARGP_HELP_STD_HELP, program);
}

static int asks_for_help(struct parse *p, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--version") == 0) {
            printf("heddle %s\n", heddle_version());
            return 1;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0 ||
            strcmp(argv[i], "--usage") == 0) {
            help(p, typed_command(argc, argv), argv[i][2] == 'u', argv[0]);
            return 1;
        }
    }
    return 0;
}

/* "heddle completion" prints what bash needs; it in turn asks for `heddle completion words ...`
 * with the words typed so far, so that options of targets found by --target-dir complete too. Bash
 * takes the = of --engine=r for a word of its own; where there are no words, it offers files. */
static const char completion[] =
    "_heddle() {\n"
    "    local word words typed=()\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [ \"$word\" = = ] || [[ ${typed[*]: -1} == *= ]]; then\n"
    "            typed[-1]+=$word\n"
    "        else\n"
    "            typed+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    words=$(\"${COMP_WORDS[0]}\" completion words \"${typed[@]}\" 2>/dev/null)\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${word#=}\")\n"
    "}\n"
    "complete -o default -F _heddle heddle\n";

/* The option whose value is typed: the last word is --NAME=... */
static const struct heddle_option *value_wanted(const struct parse *p, const char *last)
{
    const char *equals = strchr(last, '=');

    return strncmp(last, "--", 2) == 0 && equals ? row_of(p, last + 2, (size_t)(equals - last) - 2)
                                                 : NULL;
}

static void print_words(const struct parse *p, int argc, char **argv)
{
    const struct heddle_option *o = value_wanted(p, argv[argc - 1]);

    for (size_t i = 0; o && o->words && o->words[i]; i++)
        puts(o->words[i]);
    if (o)
        return;
    for (const char *const *c = heddle_commands(); argc == 4 && *c; c++)
        puts(*c);
    const struct command *command = typed_command(argc - 3, argv + 2);
    for (size_t i = 0; argv[argc - 1][0] == '-' && i < p->n_option; i++)
        if (!p->option[i].hidden && (!command || heddle_uses(command->name, p->option[i].name)))
            printf("--%s%s\n", p->option[i].name, p->option[i].value ? "=" : "");
}

static int asks_for_completion(struct parse *p, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "completion") != 0)
        return 0;
    if (argc > 2 && strcmp(argv[2], "words") == 0) {
        print_words(p, argc, argv);
    } else if (argc > 2 && strcmp(argv[2], "bash") != 0) {
        fprintf(stderr, "heddle: completion: found '%s', expected bash or nothing\n", argv[2]);
        exit(HEDDLE_USAGE);
    } else {
        fputs(completion, stdout);
    }
    return 1;
}

static enum heddle_code parse_and_do(struct parse *p, int argc, char **argv)
{
    find_targets(p, argc, argv);
    if (p->code != HEDDLE_OK)
        return p->code;
    p->option = heddle_options(p->h, &p->n_option);
    p->argument = calloc((size_t)argc + 1, sizeof *p->argument);
    if (!p->option || !p->argument || !make_table(p))
        return HEDDLE_INTERNAL;
    const struct argp argp = {p->row, parse_option, NULL, NULL, NULL, NULL, NULL};
    if (asks_for_help(p, argc, argv) || asks_for_completion(p, argc, argv))
        return HEDDLE_OK;
    if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT | ARGP_NO_ERRS, NULL, p) != 0 &&
        p->code == HEDDLE_OK)
        return refused(p, argc, argv);
    return p->code != HEDDLE_OK ? p->code
                                : heddle_command(p->h, p->command, p->argument, p->n_argument);
}

int main(int argc, char **argv)
{
    struct parse p = {.h = heddle_new()};
    unsigned kinds = HEDDLE_TEXT_RESULT | HEDDLE_TEXT_NOTE;

    if (!p.h) {
        fputs("heddle: out of memory\n", stderr);
        return HEDDLE_INTERNAL;
    }
    heddle_exit_on_interrupt();
    heddle_on_text(p.h, isatty(STDERR_FILENO) ? kinds | HEDDLE_TEXT_PROGRESS : kinds, say, NULL);
    int code = parse_and_do(&p, argc, argv);
    const char *error = heddle_error(p.h);
    if (code == HEDDLE_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        error = "standard output cannot be written";
        code = HEDDLE_INTERNAL;
    }
    if (code != HEDDLE_OK)
        fprintf(stderr, "heddle: %s\n", *error ? error : "out of memory");
    heddle_free(p.h);
    free(p.row);
    free(p.argument);
    return code;
}
