/* gguf_llama.c - see gguf_llama.h. Values of layer i are called i.name, weights as in the file. */
#include "gguf_llama.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gguf.h"
#include "gguf_nodes.h"

enum { MOST_LAYERS = 1024, MOST_SIZE = 1 << 20 };

struct llama {
    struct gguf_nodes net;
    const struct gguf *f;
    const struct gguf_options *o;
    struct diag *d;
    int64_t layers, width, inner, heads, kv_heads, head, vocabulary, context;
    double epsilon, base;
    struct onnx_state *state;
};

/* --- sizes --- */

static enum status size_of(const struct llama *m, const char *key, double otherwise, int64_t most,
                           int64_t *v)
{
    const double found = gguf_number(m->f, key, otherwise);

    if (!(found >= 1 && found <= (double)most) || found != floor(found))
        return FAIL(m->d, ST_MODEL, "setting '%s': expected 1 to %lld, found %.9g", key,
                    (long long)most, found);
    *v = (int64_t)found;
    return ST_OK;
}

static enum status check_family(const struct llama *m)
{
    const char *family = gguf_text(m->f, "general.architecture", "");
    const char *scaling = gguf_text(m->f, "llama.rope.scaling.type", "none");

    if (strcmp(family, "llama") != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "general.architecture: expected llama, found '%.40s'",
                    family);
    if (strcmp(scaling, "none") != 0 || gguf_tensor(m->f, "rope_freqs.weight"))
        return FAIL(m->d, ST_UNSUPPORTED, "positions: expected no scaling, found '%.40s'",
                    strcmp(scaling, "none") != 0 ? scaling : "rope_freqs.weight");
    if (gguf_number(m->f, "llama.expert_count", 0) != 0)
        return FAIL(m->d, ST_UNSUPPORTED, "llama.expert_count: expected no experts");
    return ST_OK;
}

static enum status read_sizes(struct llama *m)
{
    const struct gguf_tensor *table = gguf_tensor(m->f, "token_embd.weight");
    int64_t rotated, length, wanted = m->o->context;

    TRY(check_family(m));
    TRY(size_of(m, "llama.block_count", 0, MOST_LAYERS, &m->layers));
    TRY(size_of(m, "llama.embedding_length", 0, MOST_SIZE, &m->width));
    TRY(size_of(m, "llama.feed_forward_length", 0, MOST_SIZE, &m->inner));
    TRY(size_of(m, "llama.attention.head_count", 0, m->width, &m->heads));
    TRY(size_of(m, "llama.attention.head_count_kv", (double)m->heads, m->heads, &m->kv_heads));
    TRY(size_of(m, "llama.context_length", GGUF_CONTEXT, INT32_MAX, &length));
    if (m->width % m->heads != 0 || m->heads % m->kv_heads != 0)
        return FAIL(m->d, ST_MODEL, "%lld heads, %lld of keys: expected divisors of %lld",
                    (long long)m->heads, (long long)m->kv_heads, (long long)m->width);
    m->head = m->width / m->heads;
    TRY(size_of(m, "llama.rope.dimension_count", (double)m->head, MOST_SIZE, &rotated));
    if (rotated != m->head || rotated % 2 != 0)
        return FAIL(m->d, ST_UNSUPPORTED,
                    "llama.rope.dimension_count: expected an even head's %lld, found %lld",
                    (long long)m->head, (long long)rotated);
    if (wanted > length || wanted > GGUF_MOST_CONTEXT)
        return FAIL(m->d, ST_USAGE, "--context: expected at most %lld, found %lld",
                    (long long)(length < GGUF_MOST_CONTEXT ? length : GGUF_MOST_CONTEXT),
                    (long long)wanted);
    m->context = wanted ? wanted : length < GGUF_CONTEXT ? length : GGUF_CONTEXT;
    m->epsilon = gguf_number(m->f, "llama.attention.layer_norm_rms_epsilon", 1e-5);
    m->base = gguf_number(m->f, "llama.rope.freq_base", 10000);
    if (!table || table->rank != 2)
        return FAIL(m->d, ST_MODEL, "expected a tensor 'token_embd.weight' of two dimensions");
    m->vocabulary = (int64_t)table->dim[1];
    return ST_OK;
}

/* --- constants --- */

static enum status weights_of(const struct llama *m, const char *name, int64_t columns,
                              int64_t rows, const struct gguf_tensor **t)
{
    *t = gguf_tensor(m->f, name);
    if (!*t)
        return FAIL(m->d, ST_MODEL, "no tensor is called '%.80s'", name);
    if ((int64_t)(*t)->dim[0] != columns || (int64_t)(*t)->dim[1] != rows || (*t)->dim[2] != 1 ||
        (*t)->dim[3] != 1)
        return FAIL(m->d, ST_MODEL, "tensor '%.80s': expected %lld x %lld, found %llu x %llu", name,
                    (long long)columns, (long long)rows, (unsigned long long)(*t)->dim[0],
                    (unsigned long long)(*t)->dim[1]);
    return ST_OK;
}

static enum status vector(struct llama *m, const char *name)
{
    const struct gguf_tensor *t;

    TRY(weights_of(m, name, m->width, 1, &t));
    gguf_row(t, 0, gguf_constant(&m->net, name, OX_FLOAT, 1, &m->width));
    return ST_OK;
}

/* Write row `n` of a matrix as int8 with one scale, `step` bytes from one to the next. */
static float quantise_row(const float *row, int64_t n, int8_t *to, int64_t step)
{
    float most = 0;

    for (int64_t k = 0; k < n; k++)
        most = fmaxf(most, fabsf(row[k]));
    for (int64_t k = 0; k < n; k++)
        to[k * step] = (int8_t)(most > 0 ? fminf(fmaxf(rintf(row[k] / most * 127), -127), 127) : 0);
    return most / 127;
}

/* The file has the pairs of a head that RoPE turns as neighbours; ONNX's operator takes the first
 * and the second of each from two halves. */
static int64_t place_of(const struct llama *m, int64_t row, bool turned)
{
    const int64_t i = row % m->head;

    return turned ? row - i + i / 2 + i % 2 * (m->head / 2) : row;
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

    TRY(weights_of(m, name, columns, rows, &t));
    to = gguf_constant(&m->net, name, is_float ? OX_FLOAT : OX_INT8, 2, dim);
    if (!is_float)
        scale = gguf_constant(&m->net, arena_printf(m->net.arena, "%s.scale", name), OX_FLOAT, 1,
                              &rows);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = place_of(m, r, turned);

        gguf_row(t, (uint64_t)r, row);
        if (scale)
            scale[at] = quantise_row(row, columns, (int8_t *)to + at, rows);
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

    TRY(weights_of(m, "token_embd.weight", m->width, m->vocabulary, &t));
    to = gguf_constant(&m->net, "table", is_float ? OX_FLOAT : OX_INT8, 2, dim);
    if (!is_float)
        scale = gguf_constant(&m->net, "table.scale", OX_FLOAT, 2, each);
    for (int64_t r = 0; r < m->vocabulary; r++) {
        gguf_row(t, (uint64_t)r, scale ? row : (float *)to + r * m->width);
        if (scale)
            scale[r] = quantise_row(row, m->width, (int8_t *)to + r * m->width, 1);
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

static void number(struct llama *m, const char *name, float v)
{
    *(float *)gguf_constant(&m->net, name, OX_FLOAT, 0, NULL) = v;
}

static void shape(struct llama *m, const char *name, int64_t heads, int64_t rows, int64_t columns)
{
    const int64_t rank = 4, dim[4] = {1, heads, rows, columns};

    memcpy(gguf_constant(&m->net, name, OX_INT64, 1, &rank), dim, sizeof dim);
}

/* Constants that all layers share. */
static void tables(struct llama *m)
{
    const int64_t half = m->head / 2, dim[2] = {m->context, half}, places[3] = {1, 1, m->context};
    const int64_t three = 3;
    float *c = gguf_constant(&m->net, "cosines", OX_FLOAT, 2, dim);
    float *s = gguf_constant(&m->net, "sines", OX_FLOAT, 2, dim);
    int32_t *place = gguf_constant(&m->net, "places", OX_INT32, 3, places);
    const int64_t flat[3] = {1, 1, m->width};

    for (int64_t p = 0; p < m->context; p++) {
        place[p] = (int32_t)p;
        for (int64_t i = 0; i < half; i++) {
            const double angle = (double)p * pow(m->base, -2.0 * (double)i / (double)m->head);
            c[p * half + i] = (float)cos(angle);
            s[p * half + i] = (float)sin(angle);
        }
    }
    number(m, "none", -INFINITY);
    number(m, "step", (float)(1 / sqrt((double)m->head)));
    shape(m, "query.shape", m->kv_heads, m->heads / m->kv_heads, m->head);
    shape(m, "key.shape", m->kv_heads, 1, m->head);
    memcpy(gguf_constant(&m->net, "flat.shape", OX_INT64, 1, &three), flat, sizeof flat);
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

#define NAMED(m, ...) arena_printf((m)->net.arena, __VA_ARGS__)

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
    struct onnx_state *s = &m->state[m->net.graph.n_output - 1];
    const int64_t dim[4] = {1, m->kv_heads, m->context, m->head};
    Onnx__GraphProto *g = &m->net.graph;

    *s = (struct onnx_state){NAMED(m, "%d.%c.before", i, which), NAMED(m, "%d.%c.all", i, which)};
    gguf_node(&m->net, "%d.%c.row = Reshape %s key.shape", i, which, now);
    gguf_node(&m->net, "%s = TensorScatter %s %d.%c.row position ; axis=2", s->output, s->input, i,
              which);
    g->input[g->n_input++] = ox_new_border(m->net.arena, s->input, OX_FLOAT, 4, dim);
    g->output[g->n_output++] = ox_new_border(m->net.arena, s->output, OX_FLOAT, 4, dim);
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

/* Borders: token and position, logits, then the state. */
static void borders(struct llama *m)
{
    const int64_t one[2] = {1, 1}, logits[3] = {1, 1, m->vocabulary};
    const size_t n = 2 * (size_t)m->layers;
    Onnx__GraphProto *g = &m->net.graph;

    g->input = ARENA_ARRAY(m->net.arena, Onnx__ValueInfoProto *, n + 2);
    g->output = ARENA_ARRAY(m->net.arena, Onnx__ValueInfoProto *, n + 1);
    m->state = ARENA_ARRAY(m->net.arena, struct onnx_state, n);
    g->input[g->n_input++] = ox_new_border(m->net.arena, "token", OX_INT32, 2, one);
    g->input[g->n_input++] = ox_new_border(m->net.arena, "position", OX_INT32, 2, one);
    g->output[g->n_output++] = ox_new_border(m->net.arena, "logits", OX_FLOAT, 3, logits);
}

static enum status build(struct llama *m)
{
    const bool tied = !gguf_tensor(m->f, "output.weight");

    TRY(read_sizes(m));
    borders(m);
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
