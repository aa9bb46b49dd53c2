/* call.c - replace and check the words of a call template. */
#include <stdio.h>
#include <string.h>

#include "base/json/json_doc.h"
#include "describe.h"

static const struct {
    const char *name, *help;
} pointers[POINTER_COUNT] = {
    {"x", "const int8_t *, or of the pattern's dtype (const uint8_t *, const int16_t *, const "
          "float *): the first input, NHWC"},
    {"x2", "likewise: the second operand"},
    {"y", "int8_t *, or of the dtype: the output, NHWC"},
    {"w", "const int8_t * (uint8: const uint8_t *, float32: const float *): the weights, in the "
          "order that `weights` specifies"},
    {"bias",
     "const int32_t * (int16: const int64_t *, float32: const float *): out_c biases, or NULL"},
    {"multipliers", "const int32_t *: `scales` multipliers"},
    {"shifts", "const int8_t *: `scales` shifts"},
    {"float_scales", "const float *: `scales` scales as real numbers"},
    {"low",
     "float: of a float32 pattern, the lower bound of the fused activation; -infinity without"},
    {"high", "float: the upper bound; infinity without"},
    {"table", "const int8_t * (uint8: const uint8_t *): the 256 entries of a lut, from quantised "
              "value -128 on (uint8: from 0 on)"},
    {"params", "const struct hdk_NAME *: all parameters, as kernels/hdk.h has them"},
    {"dev", "const struct hd_port *: registers and memory of the target's core; NULL without RTL"},
    {"scratch",
     "void *: `scratch` bytes for this call alone, aligned to 16, of no meaning before and after"},
    {"scratch_bytes", "how many they are"},
    {"sums_in", "const int32_t *, or of the bias's type: of a pattern with `accumulate`, sums to "
                "begin with instead of the bias, in the order of y; NULL: the bias"},
    {"sums_out", "int32_t *, likewise: where the sums go instead of y; NULL: they are requantised "
                 "to y"},
    {"stage", "int: the work of a call with `overlap`. 0 copies operands in, 1 starts, 2 waits for "
              "the end, 3 "
              "copies the result out. Without a core the whole is computed at 1"},
    {"half", "int: 0 or 1, likewise: the half of the core's memory for this call"},
};

const char *describe_pointer_name(enum describe_pointer p)
{
    return pointers[p].name;
}

const char *describe_pointer_help(enum describe_pointer p)
{
    return pointers[p].help;
}

static bool same(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static const char *const region_edges[] = {"blob", "blob_bytes", "inputs", "outputs"};
const struct describe_composite describe_region_words = {
    .name = "region", .n_edge = 4, .edge = region_edges};

static uint32_t edge_named(const struct describe_composite *c, const char *name, size_t n)
{
    for (uint32_t i = 0; i < c->n_edge; i++)
        if (same(c->edge[i], name, n))
            return i;
    return COMPOSITE_EDGES;
}

/* Return the step named before a '.'; n_step if there is none. */
static uint32_t step_named(const struct describe_composite *c, const char *name, size_t n)
{
    uint32_t i = 0;

    while (i < c->n_step && !same(c->step[i].name, name, n))
        i++;
    return i;
}

void describe_word(const struct target_desc *desc, const struct describe_composite *composite,
                   const char *name, struct describe_word *w)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t n = strspn(name, letters), before = 0;
    uint32_t p = 0, attr = 0, step = COMPOSITE_STEPS;
    const bool dot = composite && name[n] == '.' && strspn(name + n + 1, letters) > 0;

    if (dot) {
        step = step_named(composite, name, n);
        before = n + 1;
        n = strspn(name + before, letters);
    }
    const bool known = !composite || (dot && step < composite->n_step);
    while (p < POINTER_COUNT && !same(pointers[p].name, name + before, n))
        p++;
    while (attr < desc->n_attr && !same(desc->attr[attr].name, name + before, n))
        attr++;
    *w = (struct describe_word){
        composite && !dot ? edge_named(composite, name, n) : COMPOSITE_EDGES,
        step,
        known || (!dot && p == POINTER_DEV) ? (enum describe_pointer)p : POINTER_COUNT,
        known ? target_value_find(name + before, n) : TARGET_VALUE_COUNT,
        dot ? desc->n_attr : attr,
        before + n};
}

static bool is_nothing(const struct target_desc *desc, const struct describe_word *w)
{
    return w->edge == COMPOSITE_EDGES && w->pointer == POINTER_COUNT &&
           w->value == TARGET_VALUE_COUNT && w->attr == desc->n_attr;
}

const char *describe_near_word(const struct target_desc *desc,
                               const struct describe_composite *composite, const char *name,
                               size_t n_bytes, bool pointers_too)
{
    const char *words[POINTER_COUNT + TARGET_VALUE_COUNT + COMPOSITE_EDGES + 64];
    char word[64];
    size_t n = 0;

    for (uint32_t i = 0; composite && i < composite->n_edge; i++)
        words[n++] = composite->edge[i];
    for (uint32_t i = 0; i < POINTER_COUNT && pointers_too; i++)
        words[n++] = pointers[i].name;
    for (uint32_t i = 0; i < TARGET_VALUE_COUNT; i++)
        words[n++] = target_value_name((enum target_value)i);
    for (uint32_t i = 0; i < desc->n_attr && i < 64; i++)
        if (pointers_too || desc->attr[i].type == TARGET_INT)
            words[n++] = desc->attr[i].name;
    snprintf(word, sizeof word, "%.*s", (int)n_bytes, name);
    return json_doc_near(word, words, n);
}

/* Check that every $word is defined and that the text is one C call. */
const char *describe_bad_call(const struct target_desc *desc,
                              const struct describe_composite *composite, const char *call)
{
    static _Thread_local char text[160];
    int depth = 0;

    for (const char *p = call; *p; p++) {
        struct describe_word w;
        depth += (*p == '(') - (*p == ')');
        if (strchr(";\"'\\#?", *p) || *p < ' ' || *p > '~' || depth < 0) {
            snprintf(text, sizeof text, "expected one C call, found '%.12s' in it", p);
            return text;
        }
        if (*p != '$')
            continue;
        describe_word(desc, composite, p + 1, &w);
        if (is_nothing(desc, &w)) {
            const char *near = describe_near_word(desc, composite, p + 1, w.n_bytes, true);
            snprintf(text, sizeof text, "'$%.*s' is not %s%s%s%s",
                     w.n_bytes < 40 ? (int)w.n_bytes : 40, p + 1,
                     composite == &describe_region_words
                         ? "a word of a region's call or an attribute"
                     : composite ? "an edge, an attribute, or a step's pointer or value ($STEP.w)"
                                 : "a pointer, value or attribute",
                     near ? "; did you mean '$" : "", near ? near : "", near ? "'?" : "");
            return text;
        }
    }
    size_t n = strlen(call);
    if (depth != 0 || n == 0 || call[n - 1] != ')') {
        snprintf(text, sizeof text, "expected one C call that ends with its ')', found '%.40s'",
                 call + (n > 40 ? n - 40 : 0));
        return text;
    }
    return NULL;
}
