/* call.c - the words of a call template. */
#include <stdio.h>
#include <string.h>

#include "describe.h"

static const struct {
    const char *name, *help;
} pointers[POINTER_COUNT] = {
    {"x", "const int8_t * (dtype float32: const float *): the first input, NHWC"},
    {"x2", "likewise: the second operand"},
    {"y", "int8_t * (float *): the output, NHWC"},
    {"w", "const int8_t * (const float *): the weights, in the order `weights` says"},
    {"bias", "const int32_t * (const float *): out_c biases, or NULL"},
    {"multipliers", "const int32_t *: `scales` multipliers"},
    {"shifts", "const int8_t *: `scales` shifts"},
    {"float_scales", "const float *: `scales` scales as real numbers"},
    {"low",
     "float: of a float32 pattern, the lower end of the fused activation; -infinity without"},
    {"high", "float: the upper end; infinity without"},
    {"table", "const int8_t *: the 256 codes of a lut"},
    {"params", "const struct hdk_NAME *: all parameters, as driver/kernels/hdk.h has them"},
    {"dev", "const struct hd_port *: registers and memory of the target's core; NULL without RTL"},
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

void describe_word(const struct target_desc *desc, const char *name, struct describe_word *w)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    uint32_t p = 0, attr = 0;
    while (p < POINTER_COUNT && !same(pointers[p].name, name, n))
        p++;
    while (attr < desc->n_attr && !same(desc->attr[attr].name, name, n))
        attr++;
    *w = (struct describe_word){(enum describe_pointer)p, target_value_find(name, n), attr, n};
}

/* Every $word means something; the text stays one C call. */
const char *describe_bad_call(const struct target_desc *desc, const char *call)
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
        describe_word(desc, p + 1, &w);
        if (w.pointer == POINTER_COUNT && w.value == TARGET_VALUE_COUNT && w.attr == desc->n_attr) {
            snprintf(text, sizeof text, "'$%.*s' is no pointer, value or attribute", (int)w.n_bytes,
                     p + 1);
            return text;
        }
    }
    if (depth != 0 || *call == '\0' || call[strlen(call) - 1] != ')')
        return "expected one C call that ends with ')'";
    return NULL;
}
