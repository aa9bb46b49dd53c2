/* describe.c - target.json to struct target_desc. The schema checks form and types; this file
 * checks relations between members: names that exist, defaults in range, calls whose words are
 * defined. */
#include "compiler/target/describe.h"

#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "compiler/described/read.h"
#include "compiler/target/region.h"
#include "describe_read.h"

static struct describe_files strings(struct reader *r, const cJSON *array)
{
    const char **name = ARENA_ARRAY(r->a, const char *, (size_t)cJSON_GetArraySize(array) + 1);
    struct describe_files f = {0, name};
    const cJSON *s;

    cJSON_ArrayForEach(s, array) name[f.n++] = arena_strdup(r->a, s->valuestring);
    return f;
}

/* Read a list of files in the folder; each must exist. */
static enum status files(struct reader *r, const cJSON *o, const char *base, const char *key,
                         struct describe_files *f)
{
    *f = strings(r, get(o, key));
    for (uint32_t i = 0; i < f->n; i++)
        if (!file_exists(arena_printf(r->a, "%s/%s", r->dir, f->name[i])))
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s%s[%u]", base, key, i), r->d,
                                 "file '%s/%s' not found", r->dir, f->name[i]);
    return ST_OK;
}

/* Compare versions such as "0.1" and "0.1.0" by major, minor, patch. */
static void version(const char *s, unsigned v[3])
{
    v[0] = v[1] = v[2] = 0;
    for (unsigned i = 0; i < 3; i++) {
        while (*s >= '0' && *s <= '9')
            v[i] = (10 * v[i] + (unsigned)(*s++ - '0')) % 1000000;
        s += *s == '.';
    }
}

static enum status check_version(struct reader *r, const cJSON *root)
{
    unsigned want[3], have[3];
    const char *text = string(r, root, "requires_heddle", "0");

    version(text, want);
    version(HEDDLE_VERSION, have);
    for (unsigned i = 0; i < 3; i++) {
        if (want[i] < have[i])
            return ST_OK;
        if (want[i] > have[i])
            return json_doc_fail(&r->doc, "requires_heddle", r->d,
                                 "the target requires heddle %s, this is %s", text, HEDDLE_VERSION);
    }
    return ST_OK;
}

/* --- attributes --- */

static const char *default_text(struct reader *r, const cJSON *value)
{
    if (cJSON_IsString(value))
        return arena_strdup(r->a, value->valuestring);
    if (cJSON_IsBool(value))
        return cJSON_IsTrue(value) ? "true" : "false";
    return arena_printf(r->a, "%.0f", value->valuedouble);
}

static enum status attribute(struct reader *r, const cJSON *o, struct target_attr *attr,
                             const char *path)
{
    static const char *const types[] = {"int", "bool", "choice", "string", NULL};
    struct target_setting setting;
    struct diag inner = {0};
    const cJSON *range = get(o, "range");

    *attr = (struct target_attr){.name = string(r, o, "name", NULL),
                                 .help = string(r, o, "help", NULL),
                                 .type = (enum target_attr_type)read_word(o, "type", types),
                                 .fallback = default_text(r, get(o, "default")),
                                 .low = INT32_MIN,
                                 .high = INT32_MAX};
    if (range && attr->type != TARGET_INT)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.range", path), r->d,
                             "only an int has a range");
    if (range) {
        attr->low = read_whole(cJSON_GetArrayItem(range, 0));
        attr->high = read_whole(cJSON_GetArrayItem(range, 1));
        if (attr->low > attr->high)
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.range", path), r->d,
                                 "its minimum %lld exceeds its maximum, %lld", (long long)attr->low,
                                 (long long)attr->high);
    }
    if ((get(o, "values") != NULL) != (attr->type == TARGET_CHOICE))
        return json_doc_fail(&r->doc, path, r->d,
                             "a choice, and nothing else, lists its words in \"values\"");
    attr->choice = strings(r, get(o, "values")).name;
    struct describe_word w;
    describe_word(r->desc, NULL, attr->name, &w);
    if (w.pointer != POINTER_COUNT || w.value != TARGET_VALUE_COUNT)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.name", path), r->d,
                             "'%s' already means something in calls", attr->name);
    if (w.attr != r->desc->n_attr)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.name", path), r->d,
                             "duplicate attribute '%s'", attr->name);
    if (target_set(r->a, attr, "the default", attr->fallback, &setting, &inner) != ST_OK)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.default", path), r->d, "%s",
                             inner.text);
    return ST_OK;
}

static enum status attributes(struct reader *r, const cJSON *root)
{
    const cJSON *array = get(root, "attributes"), *o;
    struct target_attr *attr =
        ARENA_ARRAY(r->a, struct target_attr, (size_t)cJSON_GetArraySize(array) + 1);

    r->desc->attr = attr;
    cJSON_ArrayForEach(o, array)
    {
        TRY(attribute(r, o, &attr[r->desc->n_attr],
                      arena_printf(r->a, "attributes[%u]", r->desc->n_attr)));
        r->desc->n_attr++;
    }
    return ST_OK;
}

/* Read the attributes that vary, check their bounds, and check that only calls use them. */
static enum status knobs(struct reader *r, const cJSON *root)
{
    struct describe_files list = strings(r, get(root, "knobs"));

    for (uint32_t i = 0; i < list.n; i++) {
        struct describe_word w;
        const char *path = arena_printf(r->a, "knobs[%u]", i);
        describe_word(r->desc, NULL, list.name[i], &w);
        if (w.attr == r->desc->n_attr || list.name[i][w.n_bytes])
            return json_doc_fail(&r->doc, path, r->d, "unknown attribute '%.40s'%s", list.name[i],
                                 read_near_attr(r, list.name[i], false));
        const struct target_attr *attr = &r->desc->attr[w.attr];
        if (attr->type == TARGET_STRING ||
            (attr->type == TARGET_INT && attr->low == INT32_MIN && attr->high == INT32_MAX))
            return json_doc_fail(&r->doc, path, r->d,
                                 "a knob is a bool, a choice or an int with a range");
    }
    r->desc->n_knob = list.n;
    r->desc->knob = list.name;
    return ST_OK;
}

/* --- the core --- */

static enum status counters(struct reader *r, const cJSON *array)
{
    struct describe_counter *c =
        ARENA_ARRAY(r->a, struct describe_counter, (size_t)cJSON_GetArraySize(array) + 1);
    const cJSON *o;

    r->detail->counter = c;
    cJSON_ArrayForEach(o, array)
    {
        uint32_t i = r->detail->n_counter++;
        c[i] = (struct describe_counter){string(r, o, "name", NULL), string(r, o, "port", NULL)};
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(c[k].name, c[i].name) == 0)
                return json_doc_fail(&r->doc, arena_printf(r->a, "core.counters[%u]", i), r->d,
                                     "duplicate counter '%s'", c[i].name);
    }
    return ST_OK;
}

static void add(struct describe_ports *p, const struct describe_port *port)
{
    p->port[p->n++] = *port;
}

static const char *text(struct arena *a, const cJSON *o, const char *key)
{
    const cJSON *s = get(o, key);

    return arena_strdup(a, s ? s->valuestring : "");
}

void describe_read_ports(struct arena *a, const cJSON *o, struct describe_ports *p)
{
    static const char *const irqs[] = {"high", "low", "rising", "falling", "none", NULL};
    const cJSON *irq = get(o, "interrupt"), *v;
    size_t room = 3 + (size_t)cJSON_GetArraySize(get(o, "clocks")) +
                  (size_t)cJSON_GetArraySize(get(o, "resets")) +
                  (size_t)cJSON_GetArraySize(get(o, "names")) +
                  (size_t)cJSON_GetArraySize(get(o, "constants"));

    *p = (struct describe_ports){0, ARENA_ARRAY(a, struct describe_port, room)};
    if (get(o, "clock"))
        add(p, &(struct describe_port){PORT_IS_CLOCK, text(a, o, "clock"), NULL, 1, 1});
    cJSON_ArrayForEach(v, get(o, "clocks"))
        add(p, &(struct describe_port){PORT_IS_CLOCK, text(a, v, "port"), NULL,
                                       (uint64_t)number(v, "ticks"), (uint64_t)number(v, "of")});
    cJSON_ArrayForEach(v, get(o, "resets"))
        add(p, &(struct describe_port){strcmp(get(v, "active")->valuestring, "low") == 0
                                           ? PORT_IS_RESET_LOW
                                           : PORT_IS_RESET_HIGH,
                                       text(a, v, "port"), NULL, 0, 0});
    if (irq) {
        const int kind = read_word(irq, "kind", irqs);
        const bool none = kind == 4 || !get(irq, "port");

        add(p, &(struct describe_port){none ? PORT_IS_IRQ_HIGH
                                            : (enum describe_port_kind)(PORT_IS_IRQ_HIGH + kind),
                                       none ? "" : text(a, irq, "port"), NULL, 0, 0});
    }
    if (get(o, "registers"))
        add(p, &(struct describe_port){PORT_IS_REGISTERS, text(a, o, "registers"), NULL, 0, 0});
    cJSON_ArrayForEach(v, get(o, "names"))
        add(p, &(struct describe_port){PORT_IS_NAMED, arena_strdup(a, v->string),
                                       arena_strdup(a, v->valuestring), 0, 0});
    cJSON_ArrayForEach(v, get(o, "constants"))
        add(p, &(struct describe_port){PORT_IS_CONSTANT, arena_strdup(a, v->string), NULL,
                                       (uint64_t)v->valuedouble, 0});
}

/* --- files and parameters --- */

enum status describe_path(struct arena *a, const char *folder, const char *name, const char **path,
                          struct diag *d)
{
    if (name[0] == '$')
        return file_expand(a, name, path, d);
    *path = arena_printf(a, "%s/%s", folder, name);
    return ST_OK;
}

/* Files in the folder must exist; those under $NAME/ are searched when the model is built. */
static enum status names(struct reader *r, const cJSON *o, const char *key,
                         struct describe_files *f)
{
    const cJSON *array = get(o, key), *s;
    const char **name = ARENA_ARRAY(r->a, const char *, (size_t)cJSON_GetArraySize(array) + 1);

    *f = (struct describe_files){0, name};
    cJSON_ArrayForEach(s, array)
    {
        const char *path = arena_printf(r->a, "%s/%s", r->dir, s->valuestring);

        if (s->valuestring[0] != '$' && !file_exists(path))
            return json_doc_fail(&r->doc, arena_printf(r->a, "core.%s[%u]", key, f->n), r->d,
                                 "file '%s' not found", path);
        name[f->n++] = arena_strdup(r->a, s->valuestring);
    }
    return ST_OK;
}

/* Read a number, or the attribute that holds it. */
static enum status parameters(struct reader *r, const cJSON *object)
{
    struct describe_parameter *p =
        ARENA_ARRAY(r->a, struct describe_parameter, (size_t)cJSON_GetArraySize(object) + 1);
    const cJSON *v;

    r->detail->parameter = p;
    cJSON_ArrayForEach(v, object)
    {
        struct describe_parameter *one = &p[r->detail->n_parameter++];
        uint32_t i = 0;

        *one = (struct describe_parameter){arena_strdup(r->a, v->string), PARAMETER_NUMBER,
                                           read_whole(v)};
        if (!cJSON_IsString(v))
            continue;
        while (i < r->desc->n_attr && strcmp(r->desc->attr[i].name, v->valuestring) != 0)
            i++;
        if (i == r->desc->n_attr)
            return json_doc_fail(&r->doc, arena_printf(r->a, "core.parameters.%.60s", v->string),
                                 r->d, "unknown attribute '%.40s'%s", v->valuestring,
                                 read_near_attr(r, v->valuestring, false));
        one->attr = i;
    }
    return ST_OK;
}

const char *describe_parameter_text(struct arena *a, const struct target *t,
                                    const struct describe_parameter *p)
{
    if (p->attr == PARAMETER_NUMBER)
        return arena_printf(a, "%s=%lld", p->name, (long long)p->number);
    if (t->desc->attr[p->attr].type == TARGET_STRING)
        return arena_printf(a, "%s=\"%s\"", p->name, t->setting[p->attr].text);
    return arena_printf(a, "%s=%lld", p->name, (long long)t->setting[p->attr].number);
}

enum { UNIT_BYTES = 64 }; /* of a unit of custom instructions, which has no memory of its own */

static enum status read_core(struct reader *r, const cJSON *root)
{
    const cJSON *o = get(root, "core");

    if (!o)
        return ST_OK;
    if (!get(o, "verilog") && !get(o, "file_lists"))
        return json_doc_fail(&r->doc, "core", r->d,
                             "member \"verilog\" or \"file_lists\" is missing");
    if (!get(o, "memory_bytes") && !r->detail->on_host)
        return json_doc_fail(&r->doc, "core", r->d, "member \"memory_bytes\" is missing");
    r->detail->core_top = string(r, o, "top", NULL);
    r->detail->core_bytes =
        get(o, "memory_bytes") ? (uint32_t)number(o, "memory_bytes") : UNIT_BYTES;
    r->detail->macs_per_cycle = number(o, "macs_per_cycle");
    TRY(counters(r, get(o, "counters")));
    TRY(parameters(r, get(o, "parameters")));
    describe_read_ports(r->a, get(o, "ports"), &r->detail->ports);
    if (get(o, "ports")) {
        char *const printed = cJSON_PrintUnformatted(get(o, "ports"));

        r->detail->ports_json = arena_strdup(r->a, printed ? printed : "{}");
        cJSON_free(printed);
    }
    TRY(names(r, o, "include_dirs", &r->detail->verilog_includes));
    TRY(names(r, o, "file_lists", &r->detail->verilog_lists));
    return names(r, o, "verilog", &r->detail->verilog);
}

/* --- the whole file --- */

static enum status check_form(struct reader *r)
{
    struct json_doc schema = {0};
    const char *home;

    TRY(home_find(r->a, &home, r->d));
    enum status st = json_doc_read(r->a, arena_printf(r->a, "%s/targets/target.schema.json", home),
                                   &schema, r->d);
    if (st == ST_OK)
        st = json_doc_check(&r->doc, schema.root, r->d);
    json_doc_free(&schema);
    return st;
}

static enum status blocks(struct reader *r, const cJSON *root)
{
    const cJSON *o = get(root, "blocks");

    if (!o)
        return ST_OK;
    if (!r->detail->core_top)
        return json_doc_fail(&r->doc, "blocks", r->d, "it needs a \"core\", whose memory it uses");
    r->detail->blocks = string(r, o, "unit", NULL);
    r->detail->blocks_unit = (struct blocks_unit){
        .rows = (uint32_t)number(o, "rows"),
        .columns = (uint32_t)number(o, "columns"),
        .depth = (uint32_t)number(o, "depth"),
        .memory_bytes = r->detail->core_bytes,
        .bytes_per_cycle = (uint32_t)number(o, "bytes_per_cycle"),
        .depth_per_cycle = get(o, "depth_per_cycle") ? (uint32_t)number(o, "depth_per_cycle") : 1,
        .start_cycles = (uint32_t)number(o, "start_cycles")};
    const struct blocks_unit *u = &r->detail->blocks_unit;
    r->detail->macs_per_cycle = (double)u->rows * u->columns * u->depth_per_cycle;
    return ST_OK;
}

/* Read "granularity": "region": one call for all operators that the target's shared object
 * compiles. */
static enum status region(struct reader *r, const cJSON *root)
{
    const cJSON *granularity = get(root, "granularity");
    const bool is = granularity && strcmp(granularity->valuestring, "region") == 0;

    if (!is && get(root, "call"))
        return json_doc_fail(&r->doc, "call", r->d, "it needs \"granularity\": \"region\"");
    if (!is)
        return ST_OK;
    if (!r->detail->native_file || !get(root, "call"))
        return json_doc_fail(&r->doc, "granularity", r->d,
                             "a target of regions needs \"native\" and \"call\"");
    if (get(root, "composites"))
        return json_doc_fail(&r->doc, "composites", r->d,
                             "a target of regions finds them in its graph: leave it out");
    r->detail->region_call = string(r, root, "call", NULL);
    r->desc->groups = region_groups;
    const char *bad = describe_bad_call(r->desc, &describe_region_words, r->detail->region_call);
    return bad ? json_doc_fail(&r->doc, "call", r->d, "%s", bad) : ST_OK;
}

static enum status read_root(struct reader *r)
{
    const cJSON *root = r->doc.root, *transfer = get(root, "transfer");

    TRY(check_form(r));
    TRY(check_version(r, root));
    r->desc->name = string(r, root, "name", NULL);
    r->desc->version = string(r, root, "version", NULL);
    r->desc->help = string(r, root, "help", NULL);
    r->desc->own_memory =
        get(root, "memory") && strcmp(get(root, "memory")->valuestring, "separate") == 0;
    if (transfer && !r->desc->own_memory)
        return json_doc_fail(&r->doc, "transfer", r->d,
                             "nothing is transferred with \"memory\": \"shared\"");
    r->detail->transfer_fixed = number(transfer, "fixed");
    r->detail->transfer_per_byte = number(transfer, "per_byte");
    TRY(files(r, root, "", "headers", &r->detail->headers));
    TRY(files(r, root, "", "sources", &r->detail->sources));
    r->detail->libraries = strings(r, get(root, "libraries"));
    r->detail->include_dirs = strings(r, get(root, "include_dirs"));
    r->detail->library_dirs = strings(r, get(root, "library_dirs"));
    r->detail->native_file = string(r, root, "native", NULL);
    r->detail->estimator = string(r, root, "estimator", NULL);
    if (r->detail->estimator &&
        !file_exists(arena_printf(r->a, "%s/%s", r->dir, r->detail->estimator)))
        return json_doc_fail(&r->doc, "estimator", r->d, "file '%s/%s' not found", r->dir,
                             r->detail->estimator);
    TRY(attributes(r, root));
    r->detail->on_host = cJSON_IsTrue(get(root, "host"));
    TRY(read_core(r, root));
    r->detail->clock_mhz = (uint32_t)number(root, "clock_mhz");
    if (r->detail->on_host && r->detail->clock_mhz)
        return json_doc_fail(&r->doc, "clock_mhz", r->d,
                             "the host's clock is --host-clock: leave one of them out");
    if (r->detail->on_host && r->desc->own_memory)
        return json_doc_fail(&r->doc, "host", r->d,
                             "the host has no separate memory: leave one of them out");
    TRY(blocks(r, root));
    TRY(described_read(r->a, &r->doc, r->detail->core_bytes, &r->detail->device, r->d));
    if (r->detail->device)
        r->detail->macs_per_cycle = (double)r->detail->device->depth * r->detail->device->lanes;
    TRY(knobs(r, root));
    TRY(region(r, root));
    TRY(read_operators(r, root));
    return read_composites(r, root);
}

enum status describe_read(struct arena *a, const char *dir, const struct target_desc **desc,
                          struct diag *d)
{
    struct reader r = {.a = a, .dir = arena_strdup(a, dir), .d = d};

    r.desc = ARENA_NEW(a, struct target_desc);
    r.detail = ARENA_NEW(a, struct describe);
    *r.desc = (struct target_desc){.origin = r.dir,
                                   .outside = true,
                                   .refusal = describe_refuses,
                                   .cost = describe_cost,
                                   .transfer = describe_transfer,
                                   .groups = composite_groups,
                                   .detail = r.detail};
    enum status st = json_doc_read(a, arena_printf(a, "%s/target.json", dir), &r.doc, d);
    if (st == ST_OK)
        st = read_root(&r);
    json_doc_free(&r.doc);
    *desc = r.desc;
    return st;
}
