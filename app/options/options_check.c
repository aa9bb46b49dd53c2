/* options_check.c - check that a command uses the given options. in: the table, the given options,
 * a command. out: a refusal of options that the command would ignore, since an option without
 * effect is worse than a typo. */
#include <string.h>

#include "base/json/json_doc.h"
#include "base/text.h"
#include "options_table.h"

const char *const options_commands[] = {
    "run",     "compile",      "inspect", "build",      "targets",      "ops",
    "disasm",  "report",       "bench",   "new-target", "check-target", "tune",
    "regress", "sweep",        "explore", "hw",         "quantise",     "adopt",
    "prove",   "grade-target", "diff",    NULL};

/* Return the commands that use an option. Attributes of targets are for commands that partition a
 * network. */
static uint32_t users_of(const char *option)
{
    const struct option_row *row = option_row_of(option);

    return row ? row->used_by : option_row_of("target")->used_by;
}

int options_used(const char *option, const char *command)
{
    for (uint32_t i = 0; options_commands[i]; i++)
        if (strcmp(options_commands[i], command) == 0)
            return (users_of(option) & OPTION_OF(i)) != 0;
    return 0;
}

/* Return a list as text: "run, bench and tune". */
static const char *list(struct arena *a, const char *const *words, uint32_t n)
{
    struct text t;

    text_init(&t, a);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", words[i]);
    return t.data;
}

static enum status check_use(const struct option_set *s, const char *option, const char *command,
                             uint32_t user, struct diag *d)
{
    const uint32_t users = users_of(option);
    const char *words[COMMAND_COUNT];
    uint32_t n = 0;

    if (users & OPTION_OF(user))
        return ST_OK;
    for (uint32_t i = 0; i < COMMAND_COUNT; i++)
        if (users & OPTION_OF(i))
            words[n++] = options_commands[i];
    return FAIL(d, ST_USAGE, "--%s: heddle %s does not use it; %s %s", option, command,
                list(s->arena, words, n), n == 1 ? "does" : "do");
}

/* Check --format: inspect draws, reports are tables, all can be JSON. */
static enum status check_format(const struct options *o, const char *value, struct diag *d)
{
    const bool drawn = o->format == FORMAT_DOT || o->format == FORMAT_SVG ||
                       o->format == FORMAT_MODEL_EXPLORER || o->format == FORMAT_ONNX;

    if (o->command == COMMAND_COMPILE && o->format != FORMAT_MLF)
        return FAIL(d, ST_USAGE, "--format: heddle compile has no %s, expected mlf", value);
    if ((o->command == COMMAND_QUANTISE || o->command == COMMAND_DIFF) &&
        o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
        return FAIL(d, ST_USAGE, "--format: heddle %s has no %s, expected text or json",
                    options_commands[o->command], value);
    if (o->command == COMMAND_OPS && o->format != FORMAT_TEXT && o->format != FORMAT_MD)
        return FAIL(d, ST_USAGE, "--format: heddle ops has no %s, expected text or md", value);
    if (o->command == COMMAND_OPS || o->format == FORMAT_TEXT || o->format == FORMAT_JSON ||
        o->command == COMMAND_COMPILE ||
        (o->format != FORMAT_MLF && o->format != FORMAT_MD &&
         drawn == (o->command == COMMAND_INSPECT)))
        return ST_OK;
    return FAIL(d, ST_USAGE, "--format: heddle %s has no %s, expected %s",
                options_commands[o->command], value,
                o->command == COMMAND_INSPECT ? "text, json, dot, svg, model-explorer or onnx"
                                              : "text, csv or json");
}

enum status options_check(const struct option_set *s, struct diag *d)
{
    const struct options *o = s->o;
    const bool program = o->command == COMMAND_RUN && o->prog;
    const char *command = program ? "run --prog" : options_commands[o->command];

    for (uint32_t i = 0; i < s->n_given; i++) {
        TRY(check_use(s, s->given[i].name, command, program ? COMMAND_COUNT : (uint32_t)o->command,
                      d));
        if (strcmp(s->given[i].name, "format") == 0)
            TRY(check_format(o, s->given[i].value, d));
    }
    return ST_OK;
}

/* Set the command; those of the command line only are included. */
enum status options_command(struct options *o, const char *name, struct diag *d)
{
    const char *words[COMMAND_COUNT + 3] = {"completion", "man", "help"}, *near;

    for (int i = 0; options_commands[i]; i++)
        if (strcmp(options_commands[i], name) == 0) {
            o->command = (enum options_command)i;
            return ST_OK;
        }
    for (int i = 0; i < COMMAND_COUNT; i++)
        words[3 + i] = options_commands[i];
    near = json_doc_near(name, words, COMMAND_COUNT + 3);
    if (near)
        return FAIL(d, ST_USAGE, "command: found '%s'; did you mean %s?", name, near);
    return FAIL(
        d, ST_USAGE,
        "command: found '%s', expected run, compile, inspect, build, targets, ops, disasm, "
        "report, bench, new-target, check-target, tune, regress, sweep, explore, hw, quantise, "
        "adopt, prove, grade-target, diff, "
        "completion, man or help",
        name);
}
