/* gguf_llama.c - see gguf_llama.h. Values of layer i are called i.name, weights as in the file. */
#include "gguf_llama.h"

#include <math.h>
#include <string.h>

#include "gguf_model.h"
#include "gguf_static.h"

/* --- constants --- */

static enum status vector(struct llama *m, const char *name)
{
    const struct gguf_tensor *t;

    TRY(gguf_weights(m, name, m->width, 1, &t));
    gguf_row(t, 0, gguf_constant(&m->net, name, OX_FLOAT, 1, &m->width));
    return ST_OK;
}

/* Tensor `name` as constant `name`, [columns, rows], and for int8 `name`.scale, [rows]. */
static enum status matrix(struct llama *m, const char *name, int64_t columns, int64_t rows,
                          bool turned)
{
    const bool is_float = m->o->products == GGUF_FLOAT;
    const int64_t dim[2] = {columns, rows};
    float *row = ARENA_ARRAY(m->net.arena, float, (size_t)columns), *scale = NULL;
    const struct gguf_tensor *t;
    void *to;

    TRY(gguf_weights(m, name, columns, rows, &t));
    to = gguf_constant(&m->net, name, is_float ? OX_FLOAT : OX_INT8, 2, dim);
    if (!is_float)
        scale = gguf_constant(&m->net, arena_printf(m->net.arena, "%s.scale", name), OX_FLOAT, 1,
                              &rows);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = turned ? gguf_half_place(m, r) : r;

        gguf_row(t, (uint64_t)r, row);
        if (scale)
            scale[at] = gguf_quantise(row, columns, 1, (int8_t *)to + at, rows);
        for (int64_t k = 0; k < columns && is_float; k++)
            ((float *)to)[k * rows + at] = row[k];
    }
    return ST_OK;
}

/* The table of embeddings, [tokens, width], and for int8 its scales, [tokens,1]. */
static enum status embeddings(struct llama *m)
{
    const bool is_float = m->o->products == GGUF_FLOAT;
    const int64_t dim[2] = {m->vocabulary, m->width}, each[2] = {m->vocabulary, 1};
    float *row = ARENA_ARRAY(m->net.arena, float, (size_t)m->width), *scale = NULL;
    const struct gguf_tensor *t;
    void *to;

    TRY(gguf_weights(m, "token_embd.weight", m->width, m->vocabulary, &t));
    to = gguf_constant(&m->net, "table", is_float ? OX_FLOAT : OX_INT8, 2, dim);
    if (!is_float)
        scale = gguf_constant(&m->net, "table.scale", OX_FLOAT, 2, each);
    for (int64_t r = 0; r < m->vocabulary; r++) {
        gguf_row(t, (uint64_t)r, scale ? row : (float *)to + r * m->width);
        if (scale)
            scale[r] = gguf_quantise(row, m->width, 1, (int8_t *)to + r * m->width, 1);
    }
    if (is_float) {
        gguf_node(&m->net, "x.0 = Gather table token");
        return ST_OK;
    }
    gguf_node(&m->net, "embedding = Gather table token");
    gguf_node(&m->net, "embedding.scale = Gather table.scale token");
    gguf_node(&m->net, "embedding.float = Cast embedding ; to=1");
    gguf_node(&m->net, "x.0 = Mul embedding.float embedding.scale");
    return ST_OK;
}

/* Constants that all layers share. */
static void tables(struct llama *m)
{
    const int64_t half = m->head / 2, dim[2] = {m->context, half}, places[3] = {1, 1, m->context};
    float *c = gguf_constant(&m->net, "cosines", OX_FLOAT, 2, dim);
    float *s = gguf_constant(&m->net, "sines", OX_FLOAT, 2, dim);
    int32_t *place = gguf_constant(&m->net, "places", OX_INT32, 3, places);

    for (int64_t p = 0; p < m->context; p++) {
        place[p] = (int32_t)p;
        for (int64_t i = 0; i < half; i++) {
            double cosine, sine;

            gguf_angle(m, p, i, &cosine, &sine);
            c[p * half + i] = (float)cosine;
            s[p * half + i] = (float)sine;
        }
    }
    gguf_scalar(m, "none", -INFINITY);
    gguf_scalar(m, "step", (float)(1 / sqrt((double)m->head)));
    gguf_shape(m, "query.shape", m->kv_heads, m->heads / m->kv_heads, m->head);
    gguf_shape(m, "key.shape", m->kv_heads, 1, m->head);
    gguf_flat_shape(m);
    gguf_node(&m->net, "cosine = Gather cosines position");
    gguf_node(&m->net, "sine = Gather sines position");
    gguf_node(&m->net, "known = LessOrEqual places position");
}

/* --- layers --- */

/* `x` as the operand of products: itself, or in 8 bits. */
static void operand(struct llama *m, const char *x)
{
    if (m->o->products == GGUF_INT8)
        gguf_node(&m->net, "%s.values %s.scale %s.zero = DynamicQuantizeLinear %s", x, x, x, x);
}

/* y = x W, of tensor `name`. */
static enum status product(struct llama *m, const char *y, const char *x, const char *name,
                           int64_t columns, int64_t rows, bool turned)
{
    TRY(matrix(m, name, columns, rows, turned));
    if (m->o->products == GGUF_FLOAT) {
        gguf_node(&m->net, "%s = MatMul %s %s", y, x, name);
        return ST_OK;
    }
    gguf_node(&m->net, "%s.sums = MatMulInteger %s.values %s %s.zero", y, x, name, x);
    gguf_node(&m->net, "%s.float = Cast %s.sums ; to=1", y, y);
    gguf_node(&m->net, "%s.scale = Mul %s.scale %s.scale", y, x, name);
    gguf_node(&m->net, "%s = Mul %s.float %s.scale", y, y, y);
    return ST_OK;
}

static enum status norm(struct llama *m, const char *y, const char *x, const char *name)
{
    TRY(vector(m, name));
    gguf_node(&m->net, "%s = RMSNormalization %s %s ; axis=-1 epsilon=%.12f", y, x, name,
              m->epsilon);
    operand(m, y);
    return ST_OK;
}

/* The cache `which` of layer i takes value `now` at the position. */
static void cache(struct llama *m, int i, char which, const char *now)
{
    const char *x = NAMED(m, "%d.%c", i, which);

    gguf_node(&m->net, "%s.row = Reshape %s key.shape", x, now);
    gguf_node(&m->net, "%s.all = TensorScatter %s.before %s.row position ; axis=2", x, x, x);
    gguf_state(m, NAMED(m, "%s.before", x), NAMED(m, "%s.all", x), OX_FLOAT, NULL);
}

static enum status attention(struct llama *m, int i)
{
    const char *h = NAMED(m, "%d.norm", i), *a = NAMED(m, "%d.attention", i);
    const int64_t kv = m->kv_heads * m->head;
    struct gguf_nodes *n = &m->net;

    TRY(norm(m, h, NAMED(m, "x.%d", i), NAMED(m, "blk.%d.attn_norm.weight", i)));
    TRY(product(m, NAMED(m, "%d.q", i), h, NAMED(m, "blk.%d.attn_q.weight", i), m->width, m->width,
                true));
    TRY(product(m, NAMED(m, "%d.k", i), h, NAMED(m, "blk.%d.attn_k.weight", i), m->width, kv,
                true));
    TRY(product(m, NAMED(m, "%d.v", i), h, NAMED(m, "blk.%d.attn_v.weight", i), m->width, kv,
                false));
    gguf_node(n, "%d.k.turned = RotaryEmbedding %d.k cosine sine ; num_heads=%lld", i, i,
              (long long)m->kv_heads);
    gguf_node(n, "%d.q.turned = RotaryEmbedding %d.q cosine sine ; num_heads=%lld", i, i,
              (long long)m->heads);
    cache(m, i, 'k', NAMED(m, "%d.k.turned", i));
    cache(m, i, 'v', NAMED(m, "%d.v", i));
    gguf_node(n, "%d.q.step = Mul %d.q.turned step", i, i);
    gguf_node(n, "%d.q.rows = Reshape %d.q.step query.shape", i, i);
    gguf_node(n, "%d.keys = Transpose %d.k.all ; perm=0,1,3,2", i, i);
    gguf_node(n, "%d.scores = MatMul %d.q.rows %d.keys", i, i, i);
    gguf_node(n, "%d.scores.known = Where known %d.scores none", i, i);
    gguf_node(n, "%d.shares = Softmax %d.scores.known", i, i);
    gguf_node(n, "%d.sum = MatMul %d.shares %d.v.all", i, i, i);
    gguf_node(n, "%s = Reshape %d.sum flat.shape", a, i);
    operand(m, a);
    TRY(product(m, NAMED(m, "%d.o", i), a, NAMED(m, "blk.%d.attn_output.weight", i), m->width,
                m->width, false));
    gguf_node(n, "%d.x = Add x.%d %d.o", i, i, i);
    return ST_OK;
}

static enum status feed_forward(struct llama *m, int i)
{
    const char *h = NAMED(m, "%d.ffn_norm", i), *s = NAMED(m, "%d.gated", i);
    struct gguf_nodes *n = &m->net;

    TRY(norm(m, h, NAMED(m, "%d.x", i), NAMED(m, "blk.%d.ffn_norm.weight", i)));
    TRY(product(m, NAMED(m, "%d.gate", i), h, NAMED(m, "blk.%d.ffn_gate.weight", i), m->width,
                m->inner, false));
    TRY(product(m, NAMED(m, "%d.up", i), h, NAMED(m, "blk.%d.ffn_up.weight", i), m->width, m->inner,
                false));
    gguf_node(n, "%d.sigmoid = Sigmoid %d.gate", i, i);
    gguf_node(n, "%d.silu = Mul %d.gate %d.sigmoid", i, i, i);
    gguf_node(n, "%s = Mul %d.silu %d.up", s, i, i);
    operand(m, s);
    TRY(product(m, NAMED(m, "%d.down", i), s, NAMED(m, "blk.%d.ffn_down.weight", i), m->inner,
                m->width, false));
    gguf_node(n, "x.%d = Add %d.x %d.down", i + 1, i, i);
    return ST_OK;
}

static enum status build(struct llama *m)
{
    const bool tied = !gguf_tensor(m->f, "output.weight");

    TRY(gguf_sizes(m));
    gguf_borders(m);
    if (gguf_is_static(m->o))
        return gguf_static(m);
    TRY(embeddings(m));
    tables(m);
    for (int i = 0; i < (int)m->layers; i++) {
        TRY(attention(m, i));
        TRY(feed_forward(m, i));
    }
    TRY(norm(m, "norm", NAMED(m, "x.%d", (int)m->layers), "output_norm.weight"));
    return product(m, "logits", "norm", tied ? "token_embd.weight" : "output.weight", m->width,
                   m->vocabulary, false);
}

enum status gguf_llama(struct arena *a, const uint8_t *data, size_t n_bytes,
                       const struct gguf_options *o, struct onnx_options *onnx, struct diag *d)
{
    struct llama *m = ARENA_NEW(a, struct llama);
    struct gguf *f = ARENA_NEW(a, struct gguf);

    TRY(gguf_read(a, data, n_bytes, f, d));
    gguf_nodes_init(&m->net, a);
    m->f = f;
    m->o = o;
    m->d = d;
    TRY(build(m));
    onnx->unpacked = &m->net.model;
    onnx->state = m->state;
    onnx->n_state = (uint32_t)(2 * m->layers);
    return ST_OK;
}
