/* onnx_microsoft.c - operators of com.microsoft that ONNX Runtime's optimiser writes in place of several nodes: as those
 * again (texts of onnx_expand.c). */
#include "compiler/import/onnx/onnx_import.h"

#include <string.h>

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Refuse inputs from `from` on. */
static enum status no_inputs(struct ox *m, uint32_t from)
{
    for (uint32_t i = from; i < m->node->n_input; i++)
        if (ox_in(m, i))
            return FAIL(m->d, ST_UNSUPPORTED, "input %u is not supported", i);
    return ST_OK;
}

static enum status has_inputs(struct ox *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!ox_in(m, i))
            return FAIL(m->d, ST_MODEL, "input %u is absent", i);
    return ST_OK;
}

static const char *copied(const struct ox *m, uint32_t output, const char *text)
{
    return output < m->node->n_output && *m->node->output[output] ? text : "";
}

/* x, bias */
enum status ox_fast_gelu(struct ox *m)
{
    return ox_expandf(m, "%s; %%0 = Gelu(a; approximate='tanh')",
                      ox_in(m, 1) ? "a = Add($0, $1)" : "a = Identity($0)");
}

/* x, skip, gamma, [beta,] bias; output 3 is the sum */
enum status ox_skip_norm(struct ox *m)
{
    const bool simple = is(m->op, "SkipSimplifiedLayerNormalization");
    const uint32_t bias = simple ? 3 : 4;

    TRY(has_inputs(m, 3));
    return ox_expandf(m, "s0 = Add($0, $1); %s %s %s",
                      !ox_in(m, bias) ? "s = Identity(s0);"
                      : simple        ? "s = Add(s0, $3);"
                                      : "s = Add(s0, $4);",
                      copied(m, 3, "%3 = Identity(s);"),
                      simple ? "%0 = RMSNormalization(s, $2; epsilon=@epsilon|1e-12f)"
                             : "%0 = LayerNormalization(s, $2, $3; epsilon=@epsilon|1e-12f)");
}

/* ids, segment ids, words, places, segments, gamma, beta, mask, place ids */
enum status ox_embed_norm(struct ox *m)
{
    const struct ox_value *ids = ox_in(m, 0);

    if (!ids || !ox_in(m, 2) || !ox_in(m, 3) || ox_rank(m, ids) != 2 ||
        (!ox_in(m, 1)) != (!ox_in(m, 4)))
        return FAIL(m->d, ST_MODEL,
                    "expected ids of 2 dimensions, words, places, segments and their ids");
    if (*copied(m, 1, "1"))
        return FAIL(m->d, ST_UNSUPPORTED, "output 1 (mask_index) is not supported");
    return ox_expandf(
        m,
        "w = Gather($2, $0); %s wp = Add(w, p); %s %s"
        "%%0 = LayerNormalization(e, $5, $6; epsilon=@epsilon|1e-12f)",
        ox_in(m, 8) ? "p = Gather($3, $8);"
                    : arena_printf(m->arena, "p = Slice($3, [0], [%d], [0]);", ox_dim(m, ids)[1]),
        ox_in(m, 1) ? "g = Gather($4, $1); e = Add(wp, g);" : "e = Identity(wp);",
        copied(m, 2, "%2 = Identity(e);"));
}

/* x, weights, bias, summand, then an activation */
enum status ox_fused_conv(struct ox *m)
{
    const char *activation = ox_attr_text(m, "activation", "");
    const Onnx__AttributeProto *p = ox_attr(m, "activation_params");
    const double first = p && p->n_floats > 0 ? (double)p->floats[0] : 0.01;
    const double second = p && p->n_floats > 1 ? (double)p->floats[1] : 0;
    const char *text = "%0 = Identity(s)";

    if (is(activation, "Relu") || is(activation, "Tanh") || is(activation, "Sigmoid"))
        text = arena_printf(m->arena, "%%0 = %s(s)", activation);
    else if (is(activation, "LeakyRelu"))
        text = arena_printf(m->arena, "%%0 = LeakyRelu(s; alpha=%.9ef)", first);
    else if (is(activation, "Clip"))
        text = arena_printf(m->arena, "%%0 = Clip(s, %.9ef, %.9ef)", first, second);
    else if (is(activation, "HardSigmoid"))
        text =
            arena_printf(m->arena, "%%0 = HardSigmoid(s; alpha=%.9ef, beta=%.9ef)", first, second);
    else if (*activation)
        return FAIL(m->d, ST_UNSUPPORTED, "activation '%.40s' is not supported", activation);
    return ox_expandf(m,
                      "c = Conv($0, $1, $2; auto_pad=@auto_pad, dilations=@dilations, group=@group,"
                      "kernel_shape=@kernel_shape, pads=@pads, strides=@strides); %s; %s",
                      ox_in(m, 3) ? "s = Add(c, $3)" : "s = Identity(c)", text);
}

/* "a = .." from input `i`, its last two dimensions exchanged if the attribute is set. */
static const char *matrix(struct ox *m, uint32_t i, const char *attribute)
{
    const uint32_t rank = ox_rank(m, ox_in(m, i));
    int64_t perm[IR_MAX_RANK] = {0, 1, 2, 3, 4, 5};

    if (ox_attr_int(m, attribute, 0) == 0 || rank < 2)
        return arena_printf(m->arena, "m%u = Identity($%u)", i, i);
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return arena_printf(m->arena, "m%u = Transpose($%u; perm=%s)", i, i, ox_list(m, rank, perm));
}

enum status ox_fused_matmul(struct ox *m)
{
    TRY(has_inputs(m, 2));
    return ox_expandf(m, "%s; %s; p = MatMul(m0, m1); %%0 = Mul(p, @alpha|1.0)",
                      matrix(m, 0, "transA"), matrix(m, 1, "transB"));
}

/* a, b, a's scale, b's scale, a's zero, b's zero, bias */
enum status ox_matmul_to_float(struct ox *m)
{
    return ox_expandf(m,
                      "i = MatMulInteger($0, $1, $4, $5); f = Cast(i; to=1); s = Mul($2, $3); %s",
                      ox_in(m, 6) ? "p = Mul(f, s); %0 = Add(p, $6)" : "%0 = Mul(f, s)");
}

/* a in float32, b, b's scale, b's zero, bias */
enum status ox_dynamic_matmul(struct ox *m)
{
    return ox_expandf(m,
                      "q, t, z = DynamicQuantizeLinear($0); i = MatMulInteger(q, $1, z, $3);"
                      "f = Cast(i; to=1); s = Mul(t, $2); %s",
                      ox_in(m, 4) ? "p = Mul(f, s); %0 = Add(p, $4)" : "%0 = Mul(f, s)");
}

/* `mask`: 0 or the filter's value, from 1 and 0 of input `i`, [batch, keys] or [batch, queries, keys]; with the bias of
 * input `i` + 1 or `i` + 2 (`more`). Return the text, or NULL without one. */
static const char *mask_of(struct ox *m, uint32_t i, uint32_t more)
{
    const char *bias = ox_in(m, more) ? arena_printf(m->arena, "$%u", more) : NULL;

    if (!ox_in(m, i))
        return bias ? arena_printf(m->arena, "mask = Identity(%s);", bias) : NULL;
    return arena_printf(
        m->arena,
        "v0 = Cast($%u; to=1); v1 = Sub(1.0, v0); v2 = Mul(v1, @mask_filter_value|-10000.0);"
        "%s = Unsqueeze(v2, %s); %s",
        i, bias ? "v3" : "mask", ox_rank(m, ox_in(m, i)) == 2 ? "[1,2]" : "[1]",
        bias ? arena_printf(m->arena, "mask = Add(v3, %s);", bias) : "");
}

static enum status attention(struct ox *m, const char *inputs, const char *mask)
{
    return ox_expandf(m,
                      "%s %s %%0 = Attention(q, k, v%s; q_num_heads=@num_heads,"
                      "kv_num_heads=@num_heads, scale=@scale, is_causal=@unidirectional)",
                      inputs, mask ? mask : "", mask ? ", mask" : "");
}

static enum status mask_rank(struct ox *m, uint32_t i)
{
    const uint32_t rank = ox_in(m, i) ? ox_rank(m, ox_in(m, i)) : 2;

    if (rank != 2 && rank != 3)
        return FAIL(m->d, ST_UNSUPPORTED, "mask: expected 2 or 3 dimensions, found %u", rank);
    return ST_OK;
}

/* x, weights and bias of query, key and value, mask, past (absent), bias of scores */
enum status ox_ms_attention(struct ox *m)
{
    TRY(has_inputs(m, 2));
    TRY(mask_rank(m, 3));
    TRY(no_inputs(m, 6));
    if (ox_in(m, 4))
        return FAIL(m->d, ST_UNSUPPORTED, "input 4 is not supported");
    return attention(m,
                     ox_in(m, 2)
                         ? "p0 = MatMul($0, $1); p = Add(p0, $2);"
                           "q, k, v = Split(p; axis=-1, num_outputs=3);"
                         : "p = MatMul($0, $1); q, k, v = Split(p; axis=-1, num_outputs=3);",
                     mask_of(m, 3, 5));
}

/* query, key, value, their biases as one, mask of keys, bias of scores */
enum status ox_multi_head(struct ox *m)
{
    TRY(has_inputs(m, 3));
    TRY(mask_rank(m, 4));
    TRY(no_inputs(m, 6));
    return attention(m,
                     ox_in(m, 3) ? "a, b, c = Split($3; axis=0, num_outputs=3);"
                                   "q = Add($0, a); k = Add($1, b); v = Add($2, c);"
                                 : "q = Identity($0); k = Identity($1); v = Identity($2);",
                     mask_of(m, 4, 5));
}
