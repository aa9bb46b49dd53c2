/* call.c - the words of a call template. */
#include <string.h>

#include "describe.h"

static const struct {
    const char *name, *help;
} pointers[POINTER_COUNT] = {
    {"x", "const int8_t *: the first input, NHWC"},
    {"x2", "const int8_t *: the second operand"},
    {"y", "int8_t *: the output, NHWC"},
    {"w", "const int8_t *: the weights, in the order `weights` says"},
    {"bias", "const int32_t *: out_c biases, or NULL"},
    {"multipliers", "const int32_t *: `scales` multipliers"},
    {"shifts", "const int8_t *: `scales` shifts"},
    {"float_scales", "const float *: `scales` scales as real numbers"},
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
