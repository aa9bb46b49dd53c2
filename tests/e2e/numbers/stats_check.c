/* stats_check.c - check a stats file against its schema and for consistency: fields add up, no
 * utilisation exceeds 100 %, groups and layers refer to each other.
 *
 *     stats_check docs/stats.v2.schema.json FILE...
 *
 * Exit status 0: all hold; 1: one does not, and which rule it breaks; 2: usage. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json_doc.h"

struct file {
    const char *name;
    const cJSON *all, *layers, *groups;
    bool wrong;
};

static const cJSON *member(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

static bool is_number(const cJSON *o, const char *name)
{
    return cJSON_IsNumber(member(o, name));
}

static double number(const cJSON *o, const char *name)
{
    return is_number(o, name) ? member(o, name)->valuedouble : 0;
}

static const char *word(const cJSON *o, const char *name)
{
    return cJSON_IsString(member(o, name)) ? member(o, name)->valuestring : "";
}

static void wrong(struct file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(struct file *f, const char *format, ...)
{
    va_list args;

    printf("%s: ", f->name);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    printf("\n");
    f->wrong = true;
}

/* Means of several inferences may be fractions. */
static void want(struct file *f, const char *where, const char *what, double expected, double found)
{
    if (fabs(expected - found) > 1e-9 * (1 + fabs(expected)))
        wrong(f, "%s: %s: expected %.17g, found %.17g", where, what, expected, found);
}

static void want_at_most(struct file *f, const char *where, const char *what, double most,
                         double found)
{
    if (found > most + 1e-9 * (1 + most))
        wrong(f, "%s: %s: expected at most %.17g, found %.17g", where, what, most, found);
}

static double sum(const cJSON *list, const char *name)
{
    const cJSON *o;
    double all = 0;

    cJSON_ArrayForEach(o, list) all += number(o, name);
    return all;
}

/* Return the multipliers of the one built-in accelerator; 0: there are several. */
static double multipliers(const struct file *f)
{
    const cJSON *hw = member(f->all, "hw");

    return number(hw, "rows") * number(hw, "cols");
}

/* Check that each unit's counters add up to its cycles. */
static void check_counters(struct file *f, const char *where, const cJSON *o)
{
    const cJSON *unit, *kind;

    cJSON_ArrayForEach(unit, member(o, "counters"))
    {
        double all = 0;
        cJSON_ArrayForEach(kind, unit) all += kind->valuedouble;
        want(f, where, unit->string, number(o, "cycles"), all);
    }
}

static bool part_on_host(const cJSON *part)
{
    return strcmp(word(part, "target"), "c") == 0 || cJSON_IsTrue(member(part, "host"));
}

static void check_parts(struct file *f, const cJSON *l)
{
    const char *name = word(l, "name");
    double accelerator = 0, host = 0, cycles = 0;
    bool named = false;
    const cJSON *p;

    cJSON_ArrayForEach(p, member(l, "parts"))
    {
        bool on_host = part_on_host(p);
        *(on_host ? &host : &accelerator) += number(p, "macs");
        cycles += on_host ? number(p, "cycles") : 0;
        named = named || strcmp(word(p, "target"), word(l, "target")) == 0;
    }
    want(f, name, "accelerator_macs of parts", number(l, "accelerator_macs"), accelerator);
    want(f, name, "host_macs of parts", number(l, "host_macs"), host);
    want(f, name, "host_cycles of parts", number(l, "host_cycles"), cycles);
    if (cJSON_GetArraySize(member(l, "parts")) == 0 && strcmp(word(l, "target"), "none") != 0)
        wrong(f, "%s: nothing executes, but the target is %s", name, word(l, "target"));
    if (cJSON_GetArraySize(member(l, "parts")) > 0 && !named)
        wrong(f, "%s: no part runs on its target %s", name, word(l, "target"));
}

/* Check that a layer's target is where most of its cycles are. Unknown for a group's members, a
 * simulated host, and two accelerators in one layer. */
static void check_target(struct file *f, const cJSON *l)
{
    const double host = number(l, "host_cycles"), other = number(l, "estimated_cycles");
    bool on_host = strcmp(word(l, "target"), "c") == 0;
    const char *accelerator = NULL;
    bool several = false;
    const cJSON *p;

    cJSON_ArrayForEach(p, member(l, "parts"))
    {
        if (part_on_host(p)) {
            on_host = on_host || strcmp(word(p, "target"), word(l, "target")) == 0;
            continue;
        }
        several = several || (accelerator && strcmp(word(p, "target"), accelerator) != 0);
        accelerator = word(p, "target");
    }
    if (is_number(l, "group") || strcmp(word(f->all, "host_model"), "estimate") != 0 || several ||
        (accelerator && !is_number(l, "estimated_cycles")))
        return;
    if (on_host ? host < other : host > other)
        wrong(f, "%s: target %s, but %g cycles are the host's and %g an accelerator's",
              word(l, "name"), word(l, "target"), host, other);
}

/* Check that a layer with counters has the array's steps within its cycles, and its MACs within the
 * steps. */
static void check_busy(struct file *f, const cJSON *l)
{
    const char *name = word(l, "name");

    if (!is_number(l, "array_cycles"))
        return;
    if (is_number(l, "cycles"))
        want_at_most(f, name, "array_cycles", number(l, "cycles"), number(l, "array_cycles"));
    if (multipliers(f) > 0)
        want_at_most(f, name, "MACs of its ARRAY cycles",
                     number(l, "array_cycles") * multipliers(f), number(l, "accelerator_macs"));
}

/* Check that the bytes measured for a layer are those of its commands, which energy counts. */
static void check_bytes(struct file *f, const cJSON *l)
{
    const cJSON *actions = member(l, "actions");

    if (!is_number(l, "dram_read_bytes") || !actions)
        return;
    want(f, word(l, "name"), "dram_read_bytes", number(actions, "bus_read"),
         number(l, "dram_read_bytes"));
    want(f, word(l, "name"), "dram_write_bytes", number(actions, "bus_written"),
         number(l, "dram_write_bytes"));
}

static void check_memory(struct file *f)
{
    const cJSON *l, *memory = member(f->all, "memory");
    double peak = 0, bound = 0;

    cJSON_ArrayForEach(l, f->layers)
    {
        want_at_most(f, word(l, "name"), "live_bytes", number(l, "activation_bytes"),
                     number(l, "live_bytes"));
        peak = fmax(peak, number(l, "activation_bytes"));
        bound = fmax(bound, number(l, "live_bytes"));
    }
    want(f, "memory", "activation_bytes", peak, number(memory, "activation_bytes"));
    want(f, "memory", "live_range_bytes", bound, number(memory, "live_range_bytes"));
}

static void check_layer(struct file *f, const cJSON *l)
{
    const char *name = word(l, "name");
    const cJSON *group = member(l, "group");

    want(f, name, "accelerator_macs + host_macs", number(l, "macs"),
         number(l, "accelerator_macs") + number(l, "host_macs"));
    check_parts(f, l);
    check_target(f, l);
    check_busy(f, l);
    check_bytes(f, l);
    check_counters(f, name, l);
    if (!cJSON_IsNumber(group))
        return;
    if (is_number(l, "cycles") || is_number(l, "estimated_cycles"))
        wrong(f, "%s: a member of a group has cycles of its own", name);
    const cJSON *m,
        *members = member(cJSON_GetArrayItem(f->groups, (int)group->valuedouble), "members");
    bool listed = false;
    cJSON_ArrayForEach(m, members) listed =
        listed || cJSON_GetArrayItem(f->layers, (int)m->valuedouble) == l;
    if (!listed)
        wrong(f, "%s: group %d does not list it", name, (int)group->valuedouble);
}

static void check_group(struct file *f, const cJSON *g, int index)
{
    const cJSON *m;
    char where[32];
    double macs = 0, busy = 0, vector = 0, used = 0;

    snprintf(where, sizeof where, "group %d", index);
    cJSON_ArrayForEach(m, member(g, "members"))
    {
        const cJSON *l = cJSON_GetArrayItem(f->layers, (int)m->valuedouble);
        if (!is_number(l, "group") || (int)number(l, "group") != index)
            wrong(f, "%s: layer %d is not in it", where, (int)m->valuedouble);
        macs += number(l, "accelerator_macs");
        busy += number(l, "array_cycles");
        vector += number(l, "vector_cycles");
        used += number(l, "utilisation");
    }
    want(f, where, "macs", macs, number(g, "macs"));
    want(f, where, "utilisation", used, number(g, "utilisation"));
    if (is_number(g, "cycles"))
        want_at_most(f, where, "array_cycles", number(g, "cycles"), busy);
    /* VECTOR may work in parallel with ARRAY's steps for other layers */
    want_at_most(f, where, "vector_cycles", number(f->all, "cycles"), vector);
    check_counters(f, where, g);
}

/* Check the cycles, measured or estimated, of layers, groups and the host. */
static void check_likely(struct file *f)
{
    const cJSON *const lists[] = {f->layers, f->groups}, *o;
    double sum = number(f->all, "host_cycles");

    for (size_t i = 0; i < 2; i++)
        cJSON_ArrayForEach(o, lists[i]) sum +=
            number(o, is_number(o, "cycles") ? "cycles" : "estimated_cycles");
    want(f, "whole", "estimated_total_cycles", sum, number(f->all, "estimated_total_cycles"));
}

static void check_whole(struct file *f)
{
    static const char *const sums[] = {"accelerator_macs", "host_macs",       "folded_macs",
                                       "host_cycles",      "dram_read_bytes", "dram_write_bytes"};
    const cJSON *all = f->all;

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        want(f, "layers", sums[i], number(all, sums[i]), sum(f->layers, sums[i]));
    want(f, "whole", "MACs", number(all, "macs"),
         number(all, "accelerator_macs") + number(all, "host_macs") + number(all, "folded_macs"));
    want(f, "layers and groups", "cycles", number(all, "cycles"),
         sum(f->layers, "cycles") + sum(f->groups, "cycles"));
    if (is_number(all, "estimated_cycles"))
        want(f, "layers and groups", "estimated_cycles", number(all, "estimated_cycles"),
             sum(f->layers, "estimated_cycles") + sum(f->groups, "estimated_cycles"));
    if (is_number(all, "total_cycles"))
        want(f, "whole", "total_cycles", number(all, "cycles") + number(all, "host_cycles"),
             number(all, "total_cycles"));
    else if (is_number(all, "estimated_cycles"))
        check_likely(f);
    if (multipliers(f) > 0 && number(all, "cycles") > 0)
        want_at_most(f, "whole", "MACs", number(all, "cycles") * multipliers(f),
                     number(all, "accelerator_macs"));
    if (!is_number(all, "cycles") && (number(all, "utilisation") > 0))
        wrong(f, "utilisation without cycles");
}

/* The accelerator's own registers count one inference. */
static void check_registers(struct file *f)
{
    const cJSON *units = member(f->all, "counters");

    if (!units || number(f->all, "inferences") != 1)
        return;
    want(f, "registers", "ARRAY busy", number(member(units, "array"), "busy"),
         sum(f->layers, "array_cycles"));
    want(f, "registers", "VECTOR busy", number(member(units, "vector"), "busy"),
         sum(f->layers, "vector_cycles"));
}

static bool check(struct arena *a, const cJSON *schema, const char *path)
{
    struct json_doc doc = {0};
    struct diag d = {0};
    struct file f = {.name = path};
    const cJSON *o;
    int index = 0;

    if (json_doc_read(a, path, &doc, &d) != ST_OK || json_doc_check(&doc, schema, &d) != ST_OK) {
        printf("%s\n", d.text);
        json_doc_free(&doc);
        return false;
    }
    f.all = doc.root;
    f.layers = member(doc.root, "layers");
    f.groups = member(doc.root, "groups");
    cJSON_ArrayForEach(o, f.layers) check_layer(&f, o);
    cJSON_ArrayForEach(o, f.groups) check_group(&f, o, index++);
    check_whole(&f);
    check_memory(&f);
    check_registers(&f);
    json_doc_free(&doc);
    return !f.wrong;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new(0);
    struct json_doc schema = {0};
    struct diag d = {0};
    int n_wrong = 0;

    if (argc < 3 || json_doc_read(a, argv[1], &schema, &d) != ST_OK) {
        printf("usage: stats_check SCHEMA FILE...\n%s\n", d.text);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        struct arena *one = arena_new(0);
        n_wrong += !check(one, schema.root, argv[i]);
        arena_free(one);
    }
    json_doc_free(&schema);
    arena_free(a);
    return n_wrong != 0;
}
