/* onnx_attention.c - operators of language models as others (texts of onnx_expand.c): Attention,
 * RotaryEmbedding, LinearAttention, CausalConvWithState. */
#include "compiler/import/onnx/onnx_import.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 256 }; /* of an unrolled recurrence */

/* Input `i` has `least` to `most` dimensions. */
static enum status want_rank(struct ox *m, uint32_t i, uint32_t least, uint32_t most)
{
    const struct ox_value *v = ox_in(m, i);

    if (!v)
        return FAIL(m->d, ST_MODEL, "input %u is absent", i);
    if (ox_rank(m, v) < least || ox_rank(m, v) > most)
        return FAIL(m->d, ST_MODEL, "input %u: expected %u to %u dimensions, found %u", i, least,
                    most, ox_rank(m, v));
    return ST_OK;
}

static int32_t dim_of(const struct ox *m, uint32_t input, uint32_t k)
{
    return ox_dim(m, ox_in(m, input))[k];
}

static bool has_output(const struct ox *m, uint32_t i)
{
    return i < m->node->n_output && *m->node->output[i];
}

struct attention {
    int32_t batch, q_heads, heads, q_len, past, kv_len, head;
    bool rows; /* inputs are [batch, length, heads * size] */
};

static enum status attention_shape(struct ox *m, struct attention *a)
{
    TRY(want_rank(m, 0, 3, 4));
    a->rows = ox_rank(m, ox_in(m, 0)) == 3;
    TRY(want_rank(m, 1, a->rows ? 3 : 4, a->rows ? 3 : 4));
    TRY(want_rank(m, 2, a->rows ? 3 : 4, a->rows ? 3 : 4));
    a->batch = dim_of(m, 0, 0);
    a->q_heads = a->rows ? (int32_t)ox_attr_int(m, "q_num_heads", 0) : dim_of(m, 0, 1);
    a->heads = a->rows ? (int32_t)ox_attr_int(m, "kv_num_heads", 0) : dim_of(m, 1, 1);
    if (a->heads < 1 || a->q_heads < 1 || a->q_heads % a->heads != 0)
        return FAIL(m->d, ST_MODEL, "heads: expected a multiple of kv_num_heads %d, found %d",
                    a->heads, a->q_heads);
    a->q_len = dim_of(m, 0, a->rows ? 1 : 2);
    a->head = a->rows ? dim_of(m, 0, 2) / a->q_heads : dim_of(m, 0, 3);
    a->past = 0;
    if (ox_in(m, 4)) {
        TRY(want_rank(m, 4, 4, 4));
        TRY(want_rank(m, 5, 4, 4));
        a->past = dim_of(m, 4, 2);
    }
    a->kv_len = dim_of(m, 1, a->rows ? 1 : 2) + a->past;
    return ST_OK;
}

/* Constant bias `limits`, 0 or -inf, of causal order, windows and the lengths of input 6. */
static enum status attention_limits(struct ox *m, const struct attention *a, bool *any)
{
    const bool causal = ox_attr_int(m, "is_causal", 0) != 0;
    const int64_t left = ox_attr_int(m, "left_window_size", -1);
    const int64_t right = ox_attr_int(m, "right_window_size", -1);
    const struct ox_const *lengths = NULL;
    struct ox_const c;
    float *bias;

    if (ox_in(m, 6))
        TRY(ox_want_const(m, 6, "nonpad_kv_seqlen", &lengths));
    if (lengths && lengths->n != (uint64_t)a->batch)
        return FAIL(m->d, ST_MODEL, "nonpad_kv_seqlen: expected %d lengths", a->batch);
    *any = causal || left >= 0 || right >= 0 || lengths;
    if (!*any)
        return ST_OK;
    bias = ox_new_const(m, &c, OX_FLOAT, 4,
                        (const int32_t[]){lengths ? a->batch : 1, 1, a->q_len, a->kv_len});
    for (uint64_t k = 0; k < c.n; k++) {
        const int64_t j = (int64_t)k % a->kv_len, i = (int64_t)k / a->kv_len % a->q_len;
        const int64_t valid =
            lengths ? ox_int(lengths, k / (uint64_t)a->kv_len / (uint64_t)a->q_len) : a->kv_len;
        const int64_t place = i + (lengths ? valid - a->q_len : a->past);

        bias[k] = (causal && j > place) || (left >= 0 && place - j > left) ||
                          (right >= 0 && j - place > right) || j >= valid
                      ? -INFINITY
                      : 0;
    }
    ox_inner_const(m, "limits", &c);
    return ST_OK;
}

/* `bias` of mask and limits; `none`: rows where it is -inf throughout. */
static enum status attention_bias(struct ox *m, const struct attention *a, struct text *t,
                                  bool *any)
{
    const struct ox_value *mask = ox_in(m, 3);
    const char *last = "limits";
    bool limits;

    TRY(attention_limits(m, a, &limits));
    *any = limits || mask;
    if (mask) {
        const uint32_t rank = ox_rank(m, mask);
        const int32_t missing = a->kv_len - ox_dim(m, mask)[rank - 1];
        int64_t pads[2 * IR_MAX_RANK] = {0};
        const bool is_bool = mask->kind == OX_CONST    ? mask->c.type == OX_BOOL
                             : mask->kind == OX_TENSOR ? m->g->tensor[mask->tensor]->type == IR_BOOL
                                                       : false;

        text_add(t, is_bool ? "mask = Where($3, 0.0, -inf);" : "mask = Identity($3);");
        last = "mask";
        if (missing > 0) {
            pads[2 * rank - 1] = missing;
            text_printf(t, "padded = Pad(mask, %s, -inf);", ox_list(m, 2 * rank, pads));
            last = "padded";
        }
        if (limits) {
            text_printf(t, "both = Add(%s, limits);", last);
            last = "both";
        }
    }
    if (*any)
        text_printf(t,
                    "bias = Identity(%s); most = ReduceMax(bias, [-1]; keepdims=1);"
                    "none = Equal(most, -inf);",
                    last);
    return ST_OK;
}

/* Keys and values with the past before them, one for each head of the query. */
static void attention_inputs(struct ox *m, const struct attention *a, struct text *t)
{
    static const char names[] = "qkv";

    for (uint32_t i = 0; i < 3; i++) {
        const char n = names[i];

        if (a->rows)
            text_printf(t, "%c0 = Reshape($%u, [0,0,%d,-1]); %c1 = Transpose(%c0; perm=[0,2,1,3]);",
                        n, i, i ? a->heads : a->q_heads, n, n);
        else
            text_printf(t, "%c1 = Identity($%u);", n, i);
        if (i == 0)
            continue;
        if (ox_in(m, 4))
            text_printf(t, "%c2 = Concat($%u, %c1; axis=2);", n, i + 3, n);
        else
            text_printf(t, "%c2 = Identity(%c1);", n, n);
        if (has_output(m, i))
            text_printf(t, "%%%u = Identity(%c2);", i, n);
        if (a->q_heads != a->heads)
            text_printf(t,
                        "%c3 = Unsqueeze(%c2, [2]); %c4 = Expand(%c3, [1,1,%d,1,1]);"
                        "%c5 = Reshape(%c4, [%d,%d,%d,-1]);",
                        n, n, n, n, a->q_heads / a->heads, n, n, a->batch, a->q_heads, a->kv_len);
        else
            text_printf(t, "%c5 = Identity(%c2);", n, n);
    }
}

enum status ox_attention(struct ox *m)
{
    static const char *const stages[] = {"raw", "capped", "biased", "p"};
    const int64_t stage = ox_attr_int(m, "qk_matmul_output_mode", 0);
    const float cap = ox_attr_float(m, "softcap", 0);
    struct attention a;
    struct text t;
    double scale;
    bool bias;

    TRY(attention_shape(m, &a));
    if (stage < 0 || stage > 3 || (stage == 0 && cap > 0 && has_output(m, 3)))
        return FAIL(m->d, ST_UNSUPPORTED, "qk_matmul_output_mode %lld: expected 0 to 3%s",
                    (long long)stage, cap > 0 ? ", with softcap 1 to 3" : "");
    scale = sqrt((double)ox_attr_float(m, "scale", (float)(1 / sqrt((double)a.head))));
    text_init(&t, m->arena);
    attention_inputs(m, &a, &t);
    TRY(attention_bias(m, &a, &t, &bias));
    text_printf(&t,
                "qs = Mul(q1, %.9ef); kt = Transpose(k5; perm=[0,1,3,2]); ks = Mul(kt, %.9ef);"
                "raw = MatMul(qs, ks);",
                scale, scale);
    if (cap > 0)
        text_printf(&t, "cd = Div(raw, %.9ef); ct = Tanh(cd); capped = Mul(ct, %.9ef);",
                    (double)cap, (double)cap);
    else
        text_add(&t, "capped = Identity(raw);");
    text_add(&t, bias ? "biased = Add(capped, bias); p0 = Softmax(biased; axis=-1);"
                        "p = Where(none, 0.0, p0);"
                      : "biased = Identity(capped); p = Softmax(biased; axis=-1);");
    if (has_output(m, 3))
        text_printf(&t, "%%3 = Identity(%s);", stages[stage]);
    text_add(&t, a.rows ? "y = MatMul(p, v5); yt = Transpose(y; perm=[0,2,1,3]);"
                          "%0 = Reshape(yt, [0,0,-1]);"
                        : "%0 = MatMul(p, v5);");
    return ox_expand(m, t.data);
}

enum status ox_rotary_embedding(struct ox *m)
{
    const int64_t heads = ox_attr_int(m, "num_heads", 0);
    const bool pairs = ox_attr_int(m, "interleaved", 0) != 0;
    int64_t head, n = ox_attr_int(m, "rotary_embedding_dim", 0);
    struct text t;
    bool rows;

    TRY(want_rank(m, 0, 3, 4));
    rows = ox_rank(m, ox_in(m, 0)) == 3;
    if (rows && heads < 1)
        return FAIL(m->d, ST_MODEL, "num_heads: expected at least 1, found %lld", (long long)heads);
    head = rows ? dim_of(m, 0, 2) / heads : dim_of(m, 0, 3);
    n = n == 0 ? head : n;
    text_init(&t, m->arena);
    text_printf(&t, rows ? "x = Reshape($0, [0,0,%lld,-1]);" : "x = Transpose($0; perm=[0,2,1,3]);",
                (long long)heads);
    text_add(&t, ox_in(m, 3) ? "c0 = Gather($1, $3); s0 = Gather($2, $3);"
                             : "c0 = Identity($1); s0 = Identity($2);");
    text_printf(&t,
                "c = Unsqueeze(c0, [2]); s = Unsqueeze(s0, [2]); r = Slice(x, [0], [%lld], [3]);",
                (long long)n);
    text_printf(&t,
                pairs ? "a = Slice(r, [0], [%lld], [3], [2]); b = Slice(r, [1], [%lld], [3], [2]);"
                      : "a = Slice(r, [0], [%lld], [3]); b = Slice(r, [%lld], [99999999], [3]);",
                (long long)(pairs ? n : n / 2), (long long)(pairs ? n : n / 2));
    text_add(&t, "ca = Mul(c, a); sb = Mul(s, b); sa = Mul(s, a); cb = Mul(c, b);"
                 "re = Sub(ca, sb); im = Add(sa, cb);");
    text_printf(&t,
                pairs ? "re5 = Unsqueeze(re, [4]); im5 = Unsqueeze(im, [4]);"
                        "y5 = Concat(re5, im5; axis=4); y0 = Reshape(y5, [0,0,0,%lld]);"
                      : "y0 = Concat(re, im; axis=3);",
                (long long)n);
    text_printf(&t,
                n < head ? "z = Slice(x, [%lld], [99999999], [3]); y = Concat(y0, z; axis=3);"
                         : "y = Identity(y0);",
                (long long)n);
    text_printf(&t, rows ? "%%0 = Reshape(y, [0,0,%lld]);" : "%%0 = Transpose(y; perm=[0,2,1,3]);",
                (long long)(heads * head));
    return ox_expand(m, t.data);
}

/* One step: the state fades, is corrected, grows by k^T v, and is read by q. */
static void linear_step(struct text *t, int32_t i, bool gates, bool corrects, int32_t group,
                        const char *state)
{
    static const char names[] = "qkvgb";

    for (uint32_t k = 0; k < 5; k++)
        if (k < 3 || (k == 3 ? gates : corrects))
            text_printf(t, "%c_%d = Slice(%c4, [%d], [%d], [2]);", names[k], i, names[k], i, i + 1);
    text_printf(t, "kt_%d = Transpose(k_%d; perm=[0,1,3,2]);", i, i);
    if (gates)
        text_printf(t,
                    "e_%d = Exp(g_%d); et_%d = Transpose(e_%d; perm=[0,1,3,2]);"
                    "f_%d = Mul(%s, et_%d);",
                    i, i, i, i, i, state, i);
    else
        text_printf(t, "f_%d = Identity(%s);", i, state);
    if (corrects)
        text_printf(t, "r_%d = MatMul(k_%d, f_%d); d_%d = Sub(v_%d, r_%d); w_%d = Mul(b_%d, d_%d);",
                    i, i, i, i, i, i, i, i, i);
    else
        text_printf(t, "w_%d = Identity(v_%d);", i, i);
    text_printf(t, "n_%d = MatMul(kt_%d, w_%d); s_%d = Add(f_%d, n_%d);", i, i, i, i, i, i);
    if (group > 1)
        text_printf(t,
                    "u_%d = Unsqueeze(s_%d, [2]); x_%d = Expand(u_%d, [1,1,%d,1,1]);"
                    "h_%d = Reshape(x_%d, heads); o_%d = MatMul(q_%d, h_%d);",
                    i, i, i, i, group, i, i, i, i, i);
    else
        text_printf(t, "o_%d = MatMul(q_%d, s_%d);", i, i, i);
}

enum status ox_linear_attention(struct ox *m)
{
    const int64_t hq = ox_attr_int(m, "q_num_heads", 0), h = ox_attr_int(m, "kv_num_heads", 0);
    const char *rule = ox_attr_text(m, "update_rule", "gated_delta");
    const bool gates = strncmp(rule, "gated", 5) == 0, corrects = strstr(rule, "delta") != NULL;
    double scale = (double)ox_attr_float(m, "scale", 0);
    int32_t batch, steps, dk, dv;
    struct ox_const c;
    int64_t *heads;
    struct text t;

    for (uint32_t i = 0; i < 3; i++)
        TRY(want_rank(m, i, 3, 3));
    if (hq < 1 || h < 1 || hq % h != 0 || (gates && !ox_in(m, 4)) || (corrects && !ox_in(m, 5)))
        return FAIL(m->d, ST_MODEL,
                    "update_rule '%.40s', %lld and %lld heads do not fit the inputs", rule,
                    (long long)hq, (long long)h);
    batch = dim_of(m, 0, 0);
    steps = dim_of(m, 0, 1);
    dk = dim_of(m, 0, 2) / (int32_t)hq;
    dv = dim_of(m, 2, 2) / (int32_t)h;
    if (steps > MAX_STEPS)
        return FAIL(m->d, ST_UNSUPPORTED, "%d steps: expected at most %d", steps, MAX_STEPS);
    heads = ox_new_const(m, &c, OX_INT64, 1, (const int32_t[]){4});
    memcpy(heads, (const int64_t[]){batch, hq, dk, dv}, 32);
    ox_inner_const(m, "heads", &c);
    text_init(&t, m->arena);
    scale = scale == 0 ? 1 / sqrt((double)dk) : scale;
    text_printf(&t,
                "q0 = Reshape($0, [0,0,%lld,-1]); q1 = Transpose(q0; perm=[0,2,1,3]);"
                "q4 = Mul(q1, %.9ef); k0 = Reshape($1, [0,0,%lld,-1]);"
                "k4 = Transpose(k0; perm=[0,2,1,3]); v0 = Reshape($2, [0,0,%lld,-1]);"
                "v4 = Transpose(v0; perm=[0,2,1,3]);",
                (long long)hq, scale, (long long)h, (long long)h);
    if (gates)
        text_printf(&t, "g0 = Reshape($4, [0,0,%lld,-1]); g4 = Transpose(g0; perm=[0,2,1,3]);",
                    (long long)h);
    if (corrects)
        text_add(&t, "b0 = Unsqueeze($5, [3]); b4 = Transpose(b0; perm=[0,2,1,3]);");
    if (ox_in(m, 3))
        text_add(&t, "start = Identity($3);");
    else
        text_printf(&t, "start = ConstantOfShape([%d,%lld,%d,%d]);", batch, (long long)h, dk, dv);
    for (int32_t i = 0; i < steps; i++)
        linear_step(&t, i, gates, corrects, (int32_t)(hq / h),
                    i ? arena_printf(m->arena, "s_%d", i - 1) : "start");
    text_add(&t, "o = Concat(o_0");
    for (int32_t i = 1; i < steps; i++)
        text_printf(&t, ", o_%d", i);
    text_add(&t, "; axis=2); ot = Transpose(o; perm=[0,2,1,3]); %0 = Reshape(ot, [0,0,-1]);");
    if (has_output(m, 1))
        text_printf(&t, "%%1 = Identity(s_%d)", steps - 1);
    return ox_expand(m, t.data);
}

enum status ox_causal_conv(struct ox *m)
{
    const char *activation = ox_attr_text(m, "activation", "none");
    const bool swish = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    int32_t k;
    struct text t;

    TRY(want_rank(m, 0, 3, 3));
    TRY(want_rank(m, 1, 3, 3));
    if (!swish && strcmp(activation, "none") != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "activation: expected none, silu or swish, found '%.40s'",
                    activation);
    k = dim_of(m, 1, 2);
    text_init(&t, m->arena);
    if (ox_in(m, 3) && k > 1)
        text_add(&t, "x = Concat($3, $0; axis=2);");
    else
        text_printf(&t, "x = Pad($0, [0,0,%d,0,0,0]);", k - 1);
    text_printf(&t, "%s = Conv(x, $1, $2; group=%d, kernel_shape=[%d]);", swish ? "c" : "%0",
                dim_of(m, 0, 1), k);
    if (swish)
        text_add(&t, "s = Sigmoid(c); %0 = Mul(c, s);");
    if (has_output(m, 1) && k > 1)
        text_printf(&t, "%%1 = Slice(x, [%d], [99999999], [2])", dim_of(m, 0, 2));
    else if (has_output(m, 1))
        return FAIL(m->d, ST_UNSUPPORTED, "a kernel of 1 leaves an empty state");
    return ox_expand(m, t.data);
}
