/* help.c - print --help: all commands, or one command with its options, by group. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "hd_commit.h"

const struct cli_command cli_commands[] = {
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
     "KHxKW [STRIDE]; bmm B M K N: B products of two inputs' matrices"},
    {"new-target", "NAME", "a folder with a target of your own that passes check-target"},
    {"adopt", "FILE",
     "a first target for a core of your own, from the ports of its Verilog (.v, .sv or a list of "
     "files, .f)"},
    {"check-target", "DIR", "check that a target does what its target.json specifies"},
    {"grade-target", "DIR [NETWORK...]",
     "how many mutants of a target's Verilog check-target and networks (default digits) find"},
    {"tune", "MODEL", "search knobs of each operator, measured on the RTL, into --tuned=FILE"},
    {"regress", "SUITE",
     "run a suite of networks, compare with baselines; also: regress show [SESSION], regress "
     "compare "
     "A B, regress accept [NETWORK] --why=TEXT"},
    {"diff", "A B",
     "two runs of a network side by side: what became slower or larger, in which layer, by which "
     "wait; A, B: folders of run -o, stats files, or NETWORK@SESSION of regress"},
    {"sweep", "SUITE",
     "run a suite of configurations: what each takes, and which nothing else beats, as table, CSV "
     "and pictures"},
    {"explore", "SUITE",
     "estimate thousands of configurations, find those that nothing else beats, run the best"},
    {"quantise", "MODEL",
     "a float32 network and samples of its inputs (-i) to an ONNX file of int8 (-o NAME.onnx), and "
     "what that costs in each layer"},
    {"prove", "MODEL", "compile, and prove that the package computes the network for every input"},
    {"hw", "[NAME|FILE]", "the configurations: sizes, resources, possible values"},
    {"completion", "[SHELL]",
     "for bash: source <(heddle completion); for zsh, fish: completion zsh, completion fish"},
    {"man", "[COMMAND]", "the manual page: heddle man run | man -l -"},
    {"help", "[COMMAND]", "this list, or a command's options: heddle help run"},
    {NULL, NULL, NULL}};

const char cli_about[] = "Compiles a quantised network for a simulated systolic accelerator, runs "
                         "it, proves the answer.";
const char cli_after[] =
    "heddle COMMAND --help lists the options of that command; heddle --version prints the "
    "version and the commit.\n"
    "MODEL is a .tflite, .onnx, .tosa or .gguf file, a graph as text (.ir) or the name of a "
    "network in "
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
    "4 device fault, 5 internal, 130 interrupted.\n";

const char *cli_group_title(int group)
{
    switch (group) {
    case HEDDLE_GROUP_FILES: return "Inputs and outputs:";
    case HEDDLE_GROUP_COMPILER: return "Network, targets and compiler:";
    case HEDDLE_GROUP_DEVICE: return "Device and schedule:";
    case HEDDLE_GROUP_REPORT: return "Reports and files:";
    case HEDDLE_GROUP_TARGETS: return "Attributes of targets:";
    default: return NULL;
    }
}

const struct heddle_option *cli_row_of(const struct cli *p, const char *name, size_t n)
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

const struct cli_command *cli_typed_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const struct cli_command *c = cli_commands; c->name; c++)
            if (strcmp(c->name, argv[i]) == 0)
                return c;
    return NULL;
}

int cli_shows(const struct cli_command *c, const struct heddle_option *o)
{
    return !o->hidden && heddle_uses(c->name, o->name);
}

/* Print `heddle --help`: the commands. */
static void print_commands(void)
{
    printf("Usage: heddle COMMAND [MODEL] [OPTION...]\n%s\n\nCommands:\n", cli_about);
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        const int n = printf("  %s %s", c->name, c->argument);
        printf("%*s%s\n", n < 24 ? 24 - n : 1, "", c->what);
    }
    printf("\n%s", cli_after);
}

/* Print `heddle COMMAND --help`: its options, with a title above each group. */
static void print_command(struct cli *p, const struct cli_command *c, int usage, char *program)
{
    char arguments[64];
    size_t n = p->n_option;
    unsigned titled = 0;

    for (size_t i = 0; i < p->n_option; i++) {
        const int group = (int)p->option[i].group;
        if (!cli_shows(c, &p->option[i])) {
            p->row[i].flags |= OPTION_HIDDEN;
        } else if (!(titled & 1u << group)) {
            p->row[n++] = (struct argp_option){.doc = cli_group_title(group), .group = group};
            titled |= 1u << group;
        }
    }
    snprintf(arguments, sizeof arguments, "%s%s%s", c->name, *c->argument ? " " : "", c->argument);
    const struct argp argp = {p->row, NULL, arguments, c->what, NULL, NULL, NULL};
    argp_help(&argp, stdout, usage ? ARGP_HELP_SHORT_USAGE : ARGP_HELP_STD_HELP, program);
}

/* Handle `heddle help` and `heddle help run`. */
static void help_command(struct cli *p, int argc, char **argv)
{
    const struct cli_command *c = argc > 2 ? cli_typed_command(2, argv + 1) : NULL;

    if (c) {
        print_command(p, c, 0, argv[0]);
    } else if (argc == 2) {
        print_commands();
    } else {
        snprintf(p->wrong, sizeof p->wrong,
                 "help: found '%.60s', expected a command of heddle --help", argv[2]);
        p->code = HEDDLE_USAGE;
    }
}

int cli_asks_for_help(struct cli *p, int argc, char **argv)
{
    const struct cli_command *c = cli_typed_command(argc, argv);

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--version") == 0) {
            printf("heddle %s" HD_COMMIT "\n", heddle_version());
            return 1;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0 ||
            strcmp(argv[i], "--usage") == 0) {
            if (c)
                print_command(p, c, argv[i][2] == 'u', argv[0]);
            else
                print_commands();
            return 1;
        }
    }
    if (argc > 1 && strcmp(argv[1], "help") == 0) {
        help_command(p, argc, argv);
        return 1;
    }
    return 0;
}
