/* describe_operators.c - read "operators" of a target.json: patterns of one operator each. */
#include <string.h>

#include "describe_read.h"

static enum status bound(struct reader *r, const cJSON *v, const char *path,
                         struct describe_bound *b)
{
    b->value = TARGET_VALUE_COUNT;
    if (!v)
        return ST_OK;
    b->given = true;
    if (cJSON_IsNumber(v)) {
        b->number = read_whole(v);
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
    b->value = target_value_find(v->valuestring, strlen(v->valuestring));
    if (b->value != TARGET_VALUE_COUNT)
        return ST_OK;
    return json_doc_fail(&r->doc, path, r->d,
                         "expected a number, a value or an attribute of type int, found "
                         "\"%.40s\"%s",
                         v->valuestring, read_near_attr(r, v->valuestring, true));
}

static bool is_number(const struct describe_bound *b)
{
    return b->given && !b->attr && b->value == TARGET_VALUE_COUNT;
}

/* Refuse bounds that no value satisfies. */
static enum status check_bounds(struct reader *r, const char *path, const struct describe_limit *l)
{
    if (is_number(&l->low) && is_number(&l->high) && l->low.number > l->high.number)
        return json_doc_fail(&r->doc, path, r->d, "its minimum %lld exceeds its maximum, %lld",
                             (long long)l->low.number, (long long)l->high.number);
    if (is_number(&l->multiple) && l->multiple.number < 1)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.multiple_of", path), r->d,
                             "expected at least 1, found %lld", (long long)l->multiple.number);
    return ST_OK;
}

static enum status limit(struct reader *r, const cJSON *o, const char *path,
                         struct describe_limit *l)
{
    const cJSON *one_of = get(o, "one_of"), *n;

    l->value = target_value_find(o->string, strlen(o->string));
    l->low.value = l->high.value = l->multiple.value = TARGET_VALUE_COUNT;
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
    cJSON_ArrayForEach(n, one_of) list[l->n_one_of++] = read_whole(n);
    l->one_of = list;
    return check_bounds(r, path, l);
}

static enum status opcode(struct reader *r, const cJSON *o, const char *path, enum ir_opcode *code)
{
    const char *name = get(o, "op")->valuestring;

    if (ir_op_named(name, code))
        return ST_OK;
    const char *near = json_doc_near(name, ir_op_names, IR_OPCODES);
    return json_doc_fail(&r->doc, arena_printf(r->a, "%s.op", path), r->d,
                         "no operator '%.40s'; %s%s%s", name, near ? "did you mean " : "",
                         near ? near : "`heddle ops` lists them", near ? "?" : "");
}

/* Read the bytes of memory that the call gets. */
static enum status check_scratch(struct reader *r, const struct describe_pattern *p,
                                 const char *path)
{
    const char *bad = p->scratch ? describe_bad_size(r->desc, p->scratch) : NULL;

    if (bad)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.scratch", path), r->d, "%s", bad);
    if (p->scratch && !p->call)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.scratch", path), r->d,
                             "only a \"call\" has scratch memory");
    if (p->call && strstr(p->call, "$scratch") && !p->scratch)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.call", path), r->d,
                             "$scratch needs \"scratch\", the number of its bytes");
    return ST_OK;
}

/* Sums over parts of the input channels go in and out of the call. */
static enum status check_accumulate(struct reader *r, const struct describe_pattern *p,
                                    const char *path)
{
    const bool words = p->call && strstr(p->call, "$sums_in") && strstr(p->call, "$sums_out");

    if (p->accumulate && (!describe_has_weights(p->opcode) || ir_op_info(p->opcode)->depthwise))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.accumulate", path), r->d,
                             "%s does not add up input channels; only conv2d and fully_connected "
                             "do",
                             ir_op_info(p->opcode)->name);
    if (p->accumulate && !words)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.accumulate", path), r->d,
                             "its call needs $sums_in and $sums_out");
    if (!p->accumulate && p->call && strstr(p->call, "$sums_"))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.call", path), r->d,
                             "$sums_in and $sums_out need \"accumulate\": true");
    return ST_OK;
}

/* Check that a call with stages has the words for them, and copies to make. */
static enum status check_overlap(struct reader *r, const struct describe_pattern *p,
                                 const char *path)
{
    const bool words = p->call && strstr(p->call, "$stage") && strstr(p->call, "$half");

    if (p->overlap && !r->desc->own_memory)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.overlap", path), r->d,
                             "nothing is copied with \"memory\": \"shared\"");
    if (p->overlap && !words)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.overlap", path), r->d,
                             "its call needs $stage and $half");
    if (!p->overlap && p->call && (strstr(p->call, "$stage") || strstr(p->call, "$half")))
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.call", path), r->d,
                             "$stage and $half need \"overlap\": true");
    return ST_OK;
}

/* Check that an operator has a call with a cost, or is built from blocks or instructions. */
static enum status check_call(struct reader *r, const struct describe_pattern *p, const cJSON *o,
                              const char *path)
{
    const bool makes = described_makes(p->opcode);
    const bool product = makes && described_kind(p->opcode) == HDK_LAYER_CONVOLVE;

    if (r->detail->estimator && (p->call || get(o, "cost")))
        return json_doc_fail(
            &r->doc, path, r->d,
            "the host computes what an \"estimator\" takes: leave call and cost out");
    if (r->detail->estimator)
        return ST_OK;
    if (p->call && !get(o, "cost"))
        return json_doc_fail(&r->doc, path, r->d, "member \"cost\" is missing");
    if (!p->call && !(r->detail->blocks && product) && !(r->detail->device && makes))
        return json_doc_fail(
            &r->doc, path, r->d,
            "member \"call\" is missing; without it only conv2d and "
            "fully_connected of a target with \"blocks\" or \"instructions\", and "
            "add, average_pool_2d and depthwise_conv2d of one with \"instructions\"");
    if (!p->call &&
        (get(o, "cost") || get(o, "weights") || (get(o, "requantise") && !r->detail->device)))
        return json_doc_fail(&r->doc, path, r->d,
                             "without \"call\" the compiler sets cost, order of weights and "
                             "requantisation: leave them out");
    path = arena_printf(r->a, "%s.call", path);
    const char *call = p->call;
    const char *bad = call ? describe_bad_call(r->desc, NULL, call) : NULL;
    return bad ? json_doc_fail(&r->doc, path, r->d, "%s", bad) : ST_OK;
}

/* Check that no operator of a region has a separate call: the region has one. */
static enum status check_region(struct reader *r, const struct describe_pattern *p, const cJSON *o,
                                const char *path)
{
    static const char *const not [] = {"call", "cost", "weights", NULL};

    for (uint32_t i = 0; not [i]; i++)
        if (get(o, not [i]))
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.%s", path, not [i]), r->d,
                                 "a region has one call, and its native code states the cost: "
                                 "leave it out");
    if (p->dtype == IR_U8)
        return json_doc_fail(&r->doc, arena_printf(r->a, "%s.dtype", path), r->d,
                             "the graph of a region is int8: uint8 cannot be asked for");
    return ST_OK;
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

    p->zero_points = zero[read_word(o, "zero_points", zeros)];
    p->requantise = (enum describe_requantise)read_word(q, "kind", kinds);
    p->single_rounding = read_word(q, "rounding", rounding) == 1;
    p->per_tensor = read_word(q, "scales", scales) == 1;
    p->dtype = dtype[read_word(o, "dtype", dtypes)];
    p->tolerance = get(o, "tolerance")                 ? number(o, "tolerance")
                   : p->requantise == REQUANTISE_FLOAT ? 1.0 / (p->dtype == IR_I16 ? 65535 : 255)
                                                       : 0;
}

/* Check a type: float32 has no quantised values; int16 has no zero points and a single rounding
 * rule. A tolerance must be stated if answers may differ. */
static enum status check_dtype(struct reader *r, const struct describe_pattern *p, const cJSON *o,
                               const char *path)
{
    const char *const rules[] = {"zero_points", "requantise", NULL};
    const struct ir_op_info *info = ir_op_info(p->opcode);
    const char *const name = describe_dtype(p->dtype);
    const bool real = p->dtype == IR_F32;

    for (uint32_t i = 0; real && rules[i]; i++)
        if (get(o, rules[i]))
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.%s", path, rules[i]), r->d,
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

    p->bias = (enum describe_bias)read_word(o, "bias", biases);
    p->hwio = read_word(o, "weights", orders) == 1;
    p->activations = list ? 0 : 15;
    cJSON_ArrayForEach(one, list) for (uint32_t i = 0; i < 4;
                                       i++) if (strcmp(names[i], one->valuestring) == 0)
        p->activations |= 1u << i;
}

enum status read_operator(struct reader *r, const cJSON *o, const char *path,
                          struct describe_pattern *p)
{
    const cJSON *where = get(o, "where"), *cost = get(o, "cost"), *one;
    TRY(opcode(r, o, path, &p->opcode));
    p->name = string(r, o, "name", ir_op_info(p->opcode)->name);
    tail(o, p);
    quantisation(o, p);
    struct describe_limit *l =
        ARENA_ARRAY(r->a, struct describe_limit, (size_t)cJSON_GetArraySize(where) + 1);
    p->limit = l;
    cJSON_ArrayForEach(one, where) TRY(
        limit(r, one, arena_printf(r->a, "%s.where.%.60s", path, one->string), &l[p->n_limit++]));
    for (uint32_t i = 0; i < COST_TERMS; i++)
        p->cost[i] = number(cost, target_cost_names[i]);
    p->call = string(r, o, "call", NULL);
    p->scratch = cJSON_IsNumber(get(o, "scratch"))
                     ? arena_printf(r->a, "%.0f", number(o, "scratch"))
                     : string(r, o, "scratch", NULL);
    p->accumulate = cJSON_IsTrue(get(o, "accumulate"));
    p->overlap = cJSON_IsTrue(get(o, "overlap"));
    return check_dtype(r, p, o, path);
}

enum status read_operators(struct reader *r, const cJSON *root)
{
    const cJSON *array = get(root, "operators"), *o;
    struct describe_pattern *p =
        ARENA_ARRAY(r->a, struct describe_pattern, (size_t)cJSON_GetArraySize(array));

    r->detail->pattern = p;
    cJSON_ArrayForEach(o, array)
    {
        uint32_t i = r->detail->n_pattern++;
        const char *path = arena_printf(r->a, "operators[%u]", i);
        TRY(read_operator(r, o, path, &p[i]));
        TRY(check_scratch(r, &p[i], path));
        TRY(check_accumulate(r, &p[i], path));
        TRY(check_overlap(r, &p[i], path));
        if (p[i].dtype != IR_I8 && !p[i].call && !r->detail->region_call && !r->detail->estimator)
            return json_doc_fail(&r->doc, arena_printf(r->a, "%s.dtype", path), r->d,
                                 "blocks and instructions multiply int8: a pattern of %s needs a "
                                 "\"call\"",
                                 describe_dtype(p[i].dtype));
        TRY(r->detail->region_call ? check_region(r, &p[i], o, path)
                                   : check_call(r, &p[i], o, path));
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(p[k].name, p[i].name) == 0)
                return json_doc_fail(&r->doc, arena_printf(r->a, "operators[%u]", i), r->d,
                                     "duplicate pattern '%s'; give this one another \"name\"",
                                     p[i].name);
    }
    return ST_OK;
}
