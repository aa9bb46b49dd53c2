/* describe.c - target.json to struct target_desc. Form and types are the schema's business; here
 * stand the checks between members: names that exist, defaults in range, calls that can be filled.
 */
#include "describe.h"

#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "base/json_doc.h"

struct reader {
    struct arena *a;
    const char *dir;
    struct json_doc doc;
    struct target_desc *desc;
    struct describe *detail;
    struct diag *d;
};

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *string(struct reader *r, const cJSON *o, const char *key, const char *fallback)
{
    const cJSON *s = get(o, key);

    return s ? arena_strdup(r->a, s->valuestring) : fallback;
}

static double number(const cJSON *o, const char *key)
{
    const cJSON *n = get(o, key);

    return n ? n->valuedouble : 0;
}

/* A whole number of the file; those that a double cannot count are as good as the last it can. */
static int64_t whole(const cJSON *v)
{
    const double most = 9007199254740992.0; /* 2^53 */

    return (int64_t)(v->valuedouble > most    ? most
                     : v->valuedouble < -most ? -most
                                              : v->valuedouble);
}

/* Index of a word of the schema's enum; 0 if the member does not exist. */
static int word(const cJSON *o, const char *key, const char *const *words)
{
    const cJSON *s = get(o, key);

    for (int i = 0; s && words[i]; i++)
        if (strcmp(words[i], s->valuestring) == 0)
            return i;
    return 0;
}

static struct describe_files strings(struct reader *r, const cJSON *array)
{
    const char **name = ARENA_ARRAY(r->a, const char *, (size_t)cJSON_GetArraySize(array) + 1);
    struct describe_files f = {0, name};
    const cJSON *s;

    cJSON_ArrayForEach(s, array) name[f.n++] = arena_strdup(r->a, s->valuestring);
    return f;
}

/* Files of the folder, which must be there. */
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

/* "0.1" against "0.1.0": major, minor, patch. */
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
                                 .type = (enum target_attr_type)word(o, "type", types),
                                 .fallback = default_text(r, get(o, "default")),
                                 .low = INT32_MIN,
                                 .high = INT32_MAX};
    if (range && attr->type != TARGET_INT)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.range", path), r->d,
                             "only an int has a range");
    if (range) {
        attr->low = whole(cJSON_GetArrayItem(range, 0));
        attr->high = whole(cJSON_GetArrayItem(range, 1));
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
    describe_word(r->desc, attr->name, &w);
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

/* "; did you mean "NAME"?", or nothing: an attribute of the target, ints only if asked. */
static const char *near_attr(struct reader *r, const char *name, bool ints)
{
    const char **words = ARENA_ARRAY(r->a, const char *, r->desc->n_attr + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->desc->n_attr; i++)
        if (!ints || r->desc->attr[i].type == TARGET_INT)
            words[n++] = r->desc->attr[i].name;
    const char *near = json_doc_near(name, words, n);
    return near ? arena_printf(r->a, "; did you mean \"%s\"?", near) : "";
}

/* Attributes that vary: within bounds, and where nothing but a call sees them. */
static enum status knobs(struct reader *r, const cJSON *root)
{
    struct describe_files list = strings(r, get(root, "knobs"));

    for (uint32_t i = 0; i < list.n; i++) {
        struct describe_word w;
        const char *path = arena_printf(r->a, "knobs[%u]", i);
        describe_word(r->desc, list.name[i], &w);
        if (w.attr == r->desc->n_attr || list.name[i][w.n_bytes])
            return json_doc_fail(&r->doc, path, r->d, "unknown attribute '%.40s'%s", list.name[i],
                                 near_attr(r, list.name[i], false));
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

/* --- operators --- */

static enum status bound(struct reader *r, const cJSON *v, const char *path,
                         struct describe_bound *b)
{
    if (!v)
        return ST_OK;
    b->given = true;
    if (cJSON_IsNumber(v)) {
        b->number = whole(v);
        return ST_OK;
    }
    for (uint32_t i = 0; i < r->desc->n_attr; i++)
        if (r->desc->attr[i].type == TARGET_INT &&
            strcmp(r->desc->attr[i].name, v->valuestring) == 0) {
            for (uint32_t k = 0; k < r->desc->n_knob; k++)
                if (strcmp(r->desc->knob[k], v->valuestring) == 0)
                    return json_doc_fail(&r->doc, path, r->d,
                                         "a knob cannot be a limit: tuning varies it and must not "
                                         "change what the target supports");
            b->attr = &r->desc->attr[i];
            return ST_OK;
        }
    return json_doc_fail(&r->doc, path, r->d,
                         "expected a number or an attribute of type int, found \"%.40s\"%s",
                         v->valuestring, near_attr(r, v->valuestring, true));
}

/* Bounds that nothing meets are a mistake. */
static enum status check_bounds(struct reader *r, const char *path, const struct describe_limit *l)
{
    if (l->low.given && l->high.given && !l->low.attr && !l->high.attr &&
        l->low.number > l->high.number)
        return json_doc_fail(&r->doc, path, r->d, "its minimum %lld exceeds its maximum, %lld",
                             (long long)l->low.number, (long long)l->high.number);
    if (l->multiple.given && !l->multiple.attr && l->multiple.number < 1)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.multiple_of", path), r->d,
                             "expected at least 1, found %lld", (long long)l->multiple.number);
    return ST_OK;
}

static enum status limit(struct reader *r, const cJSON *o, const char *path,
                         struct describe_limit *l)
{
    const cJSON *one_of = get(o, "one_of"), *n;

    l->value = target_value_find(o->string, strlen(o->string));
    if (l->value == TARGET_VALUE_COUNT) {
        const char *words[TARGET_VALUE_COUNT];
        for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
            words[i] = target_value_name((enum target_value)i);
        const char *near = json_doc_near(o->string, words, TARGET_VALUE_COUNT);
        return json_doc_fail(&r->doc, path, r->d, "unknown value of an operator; %s%s%s",
                             near ? "did you mean \"" : "docs/TARGET.md lists them",
                             near ? near : "", near ? "\"?" : "");
    }
    if (cJSON_IsNumber(o)) {
        TRY(bound(r, o, path, &l->low));
        return bound(r, o, path, &l->high);
    }
    if (cJSON_IsArray(o)) {
        TRY(bound(r, cJSON_GetArrayItem(o, 0), arena_printf(r->a, "%s[0]", path), &l->low));
        TRY(bound(r, cJSON_GetArrayItem(o, 1), arena_printf(r->a, "%s[1]", path), &l->high));
        return check_bounds(r, path, l);
    }
    TRY(bound(r, get(o, "min"), arena_printf(r->a, "%s.min", path), &l->low));
    TRY(bound(r, get(o, "max"), arena_printf(r->a, "%s.max", path), &l->high));
    TRY(bound(r, get(o, "multiple_of"), arena_printf(r->a, "%s.multiple_of", path), &l->multiple));
    int64_t *list = ARENA_ARRAY(r->a, int64_t, (size_t)cJSON_GetArraySize(one_of) + 1);
    cJSON_ArrayForEach(n, one_of) list[l->n_one_of++] = whole(n);
    l->one_of = list;
    return check_bounds(r, path, l);
}

static enum status opcode(struct reader *r, const cJSON *o, const char *path, enum ir_opcode *code)
{
    const char *name = get(o, "op")->valuestring;

    if (ir_op_named(name, code))
        return ST_OK;
    const char *near = json_doc_near(name, ir_op_names, IR_OP_COUNT);
    return json_doc_fail(&r->doc, arena_printf(r->a, "%s.op", path), r->d,
                         "no operator '%.40s'; %s%s%s", name, near ? "did you mean " : "",
                         near ? near : "`heddle ops` lists them", near ? "?" : "");
}

/* An operator is a call at a stated cost, or made of blocks. */
static enum status check_call(struct reader *r, const struct describe_pattern *p, const cJSON *o,
                              const char *path)
{
    bool product = p->opcode == IR_OP_CONV2D || p->opcode == IR_OP_FULLY_CONNECTED;

    if (p->call && !get(o, "cost"))
        return json_doc_fail(&r->doc, path, r->d, "member \"cost\" is missing");
    if (!p->call && !(r->detail->blocks && product))
        return json_doc_fail(&r->doc, path, r->d,
                             "member \"call\" is missing; without it only conv2d and "
                             "fully_connected of a target with \"blocks\"");
    if (!p->call && (get(o, "cost") || get(o, "weights") || get(o, "requantise")))
        return json_doc_fail(&r->doc, path, r->d,
                             "without \"call\" the compiler sets cost, order of weights and "
                             "requantisation: leave them out");
    path = arena_printf(r->a, "%s.call", path);
    const char *call = p->call;
    const char *bad = call ? describe_bad_call(r->desc, call) : NULL;
    return bad ? json_doc_fail(&r->doc, path, r->d, "%s", bad) : ST_OK;
}

static void quantisation(const cJSON *o, struct describe_pattern *p)
{
    static const char *const zeros[] = {"activations", "none", "both", NULL},
                             *const kinds[] = {"multiplier_shift", "shift_bits", "float", NULL},
                             *const rounding[] = {"double", "single", NULL},
                             *const scales[] = {"per_channel", "per_tensor", NULL},
                             *const dtypes[] = {"int8", "uint8", "int16", "float32", NULL};
    static const enum describe_zero zero[] = {ZERO_ACTIVATIONS, ZERO_NONE, ZERO_BOTH};
    static const enum ir_type dtype[] = {IR_I8, IR_U8, IR_I16, IR_F32};
    const cJSON *q = get(o, "requantise");

    p->zero_points = zero[word(o, "zero_points", zeros)];
    p->requantise = (enum describe_requantise)word(q, "kind", kinds);
    p->single_rounding = word(q, "rounding", rounding) == 1;
    p->per_tensor = word(q, "scales", scales) == 1;
    p->dtype = dtype[word(o, "dtype", dtypes)];
    p->tolerance = get(o, "tolerance")                 ? number(o, "tolerance")
                   : p->requantise == REQUANTISE_FLOAT ? 1.0 / (p->dtype == IR_I16 ? 65535 : 255)
                                                       : 0;
}

/* float32 has no quantised values, int16 no zero points and one rule of rounding; where answers may
 * differ is said. */
static enum status check_dtype(struct reader *r, const struct describe_pattern *p, const cJSON *o,
                               const char *path)
{
    const char *const codes[] = {"zero_points", "requantise", NULL};
    const struct ir_op_info *info = ir_op_info(p->opcode);
    const char *const name = describe_dtype(p->dtype);
    const bool real = p->dtype == IR_F32;

    for (uint32_t i = 0; real && codes[i]; i++)
        if (get(o, codes[i]))
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.%s", path, codes[i]), r->d,
                                 "float32 has no zero points and no requantisation: leave it out");
    if (p->dtype == IR_I16 && get(o, "zero_points"))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.zero_points", path), r->d,
                             "int16 has no zero points: leave it out");
    if (p->dtype == IR_I16 && get(get(o, "requantise"), "rounding"))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.requantise.rounding", path), r->d,
                             "sums of int16 round once, halves up: leave it out");
    if (!(info->types >> p->dtype & 1) || (real && !info->has_float))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.dtype", path), r->d,
                             "%s has no %s form", info->name, name);
    if (p->dtype != IR_I8 && !p->call)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.dtype", path), r->d,
                             "blocks multiply int8: a pattern of %s needs a \"call\"", name);
    if (get(o, "tolerance") && !real && p->requantise != REQUANTISE_FLOAT)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.tolerance", path), r->d,
                             "%s patterns give the reference's bytes; only float32 and "
                             "requantise of kind float may differ",
                             name);
    return ST_OK;
}

static void tail(const cJSON *o, struct describe_pattern *p)
{
    static const char *const biases[] = {"optional", "required", "none", NULL},
                             *const orders[] = {"ohwi", "hwio", NULL},
                             *const names[] = {"none", "relu", "relu6", "relu_n1_to_1", NULL};
    const cJSON *list = get(o, "activation"), *one;

    p->bias = (enum describe_bias)word(o, "bias", biases);
    p->hwio = word(o, "weights", orders) == 1;
    p->activations = list ? 0 : 15;
    cJSON_ArrayForEach(one, list) for (uint32_t i = 0; i < 4;
                                       i++) if (strcmp(names[i], one->valuestring) == 0)
        p->activations |= 1u << i;
}

static enum status operator(struct reader *r, const cJSON *o, const char *path,
                            struct describe_pattern *p) {
    const cJSON *where = get(o, "where"), *cost = get(o, "cost"), *one;
    TRY(opcode(r, o, path, &p->opcode));
    p->name = string(r, o, "name", ir_op_info(p->opcode)->name);
    tail(o, p);
    quantisation(o, p);
    struct describe_limit *l = ARENA_ARRAY(r->a, struct describe_limit,
                                           (size_t)cJSON_GetArraySize(where) + 1);
    p->limit = l;
    cJSON_ArrayForEach(one, where)
        TRY(limit(r, one, arena_printf(r->a, "%s.where.%.60s", path, one->string),
                  &l[p->n_limit++]));
    p->fixed = number(cost, "fixed");
    p->per_mac = number(cost, "per_mac");
    p->per_output = number(cost, "per_output");
    p->per_byte = number(cost, "per_byte");
    p->call = string(r, o, "call", NULL);
    TRY(check_dtype(r, p, o, path));
    return check_call(r, p, o, path);
}

static enum status operators(struct reader *r, const cJSON *root)
{
    const cJSON *array = get(root, "operators"), *o;
    struct describe_pattern *p =
        ARENA_ARRAY(r->a, struct describe_pattern, (size_t)cJSON_GetArraySize(array));

    r->detail->pattern = p;
    cJSON_ArrayForEach(o, array)
    {
        uint32_t i = r->detail->n_pattern++;
        TRY(operator(r, o, arena_printf(r->a, "operators[%u]", i), &p[i]));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(p[k].name, p[i].name) == 0)
                return json_doc_fail(&r->doc, arena_printf(r->a, "operators[%u]", i), r->d,
                                     "duplicate pattern '%s'; give this one another \"name\"",
                                     p[i].name);
    }
    return ST_OK;
}

/* --- the whole --- */

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

static enum status core(struct reader *r, const cJSON *root)
{
    const cJSON *o = get(root, "core");

    if (!o)
        return ST_OK;
    r->detail->core_top = string(r, o, "top", NULL);
    r->detail->core_bytes = (uint32_t)number(o, "memory_bytes");
    r->detail->macs_per_cycle = number(o, "macs_per_cycle");
    TRY(counters(r, get(o, "counters")));
    return files(r, o, "core.", "verilog", &r->detail->verilog);
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
    r->detail->native_file = string(r, root, "native", NULL);
    TRY(core(r, root));
    TRY(blocks(r, root));
    TRY(attributes(r, root));
    TRY(knobs(r, root));
    return operators(r, root);
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
                                   .detail = r.detail};
    enum status st = json_doc_read(a, arena_printf(a, "%s/target.json", dir), &r.doc, d);
    if (st == ST_OK)
        st = read_root(&r);
    json_doc_free(&r.doc);
    *desc = r.desc;
    return st;
}
