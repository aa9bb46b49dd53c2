/* gguf_round.c - see gguf_round.h. */
#include "gguf_round.h"

#include <math.h>

static float step_of(float low, float high)
{
    return high > low ? (high - low) / 255 : 1;
}

float gguf_step_of(const struct llama *m, const char *name)
{
    const struct gguf_range *r = gguf_range(m->ranges, name);

    return step_of(r->low, r->high);
}

int8_t gguf_byte_of(float low, float high, float v)
{
    const float step = step_of(low, high);

    return (int8_t)fminf(fmaxf(rintf(v / step) + rintf(-128 - low / step), -128), 127);
}

/* The last node's result is `name` after both nodes, in steps of `step`; return the zero point. */
static void *round_by(struct llama *m, const char *name, float step, enum ox_type type)
{
    Onnx__GraphProto *g = &m->net.graph;
    void *zero;

    g->node[g->n_node - 1]->output[0] = NAMED(m, "%s.real", name);
    gguf_scalar(m, NAMED(m, "%s.step", name), step);
    zero = gguf_constant(&m->net, NAMED(m, "%s.zero", name), type, 0, NULL);
    gguf_node(&m->net, "%s.byte = QuantizeLinear %s.real %s.step %s.zero", name, name, name, name);
    gguf_node(&m->net, "%s = DequantizeLinear %s.byte %s.step %s.zero", name, name, name, name);
    return zero;
}

void gguf_round_to(struct llama *m, const char *name, float low, float high)
{
    *(int8_t *)round_by(m, name, step_of(low, high), OX_INT8) = gguf_byte_of(low, high, 0);
}

void gguf_rounded(struct llama *m, const char *name)
{
    const struct gguf_range *r = gguf_range(m->ranges, name);

    gguf_round_to(m, name, r->low, r->high);
}

void gguf_round_wide(struct llama *m, const char *name, float most)
{
    round_by(m, name, most > 0 ? most / INT16_MAX : 1, OX_INT16);
}
