/* gguf_static.c - see gguf_static.h. Each value is rounded to int8 (QuantizeLinear, DequantizeLinear) in the
 * range that gguf_ranges.c saw, so the network has ranges of ONNX's islands, and the accelerator
 * computes all between two of them.
 *   gains of norms are in the weights after them;
 *   embeddings are in one scale; RoPE is x * cosine + swapped x * sine, of the whole head;
 *   positions to come are masked by the sum with a row of a table. */
#include "gguf_static.h"

#include <math.h>
#include <string.h>

#include "gguf_outliers.h"
#include "gguf_ranges.h"
#include "gguf_round.h"
#include "gguf_wide.h"

/* A position to come is this much less than the least score: e^-MASKED times any context is below
 * half a step of a share. */
static const float masked = 16;

/* Channels of gated values that have outliers. */
static int64_t outer_channels(const struct llama *m)
{
    return (m->inner + 7) / 8;
}

struct place {
    const char *name, *gain; /* NULL: none */
    int64_t columns, rows;
    bool halves, ends; /* rows of q and k; rows are values of the residual */
};

/* --- constants --- */

static enum status gain_of(struct llama *m, const char *name, float **gain)
{
    const struct gguf_tensor *t;

    *gain = ARENA_ARRAY(m->scratch, float, (size_t)m->width);
    TRY(gguf_weights(m, name, m->width, 1, &t));
    gguf_row(t, 0, *gain);
    return ST_OK;
}

/* The tensor's values [columns,rows], with the gain of its inputs, both in the turned residual. */
static enum status values_of(struct llama *m, const struct place *p, float **values)
{
    float *v = ARENA_ARRAY(m->scratch, float, (size_t)(p->columns * p->rows)), *gain = NULL;
    float *row = ARENA_ARRAY(m->scratch, float, (size_t)p->columns);
    const struct gguf_tensor *t;

    TRY(gguf_weights(m, p->name, p->columns, p->rows, &t));
    if (p->gain)
        TRY(gain_of(m, p->gain, &gain));
    for (int64_t r = 0; r < p->rows; r++) {
        const int64_t at = p->halves ? gguf_half_place(m, r) : r;

        gguf_row(t, (uint64_t)r, row);
        for (int64_t k = 0; k < p->columns && gain; k++)
            row[k] *= gain[k];
        if (gain)
            gguf_turn(&m->turn, row);
        for (int64_t k = 0; k < p->columns; k++)
            v[k * p->rows + at] = row[k];
    }
    for (int64_t k = 0; k < p->columns && p->ends; k++)
        gguf_turn(&m->turn, v + k * p->rows);
    *values = v;
    return ST_OK;
}

static enum status matrix(struct llama *m, const char *name, const struct place *p,
                          struct gguf_matrix *to)
{
    const int64_t dim[2] = {p->columns, p->rows};
    float *v, *scale;
    int8_t *w;

    arena_reset(m->scratch);
    TRY(values_of(m, p, &v));
    w = gguf_constant(&m->net, NAMED(m, "%s.bytes", name), OX_INT8, 2, dim);
    scale = gguf_constant(&m->net, NAMED(m, "%s.steps", name), OX_FLOAT, 1, &p->rows);
    for (int64_t r = 0; r < p->rows; r++)
        scale[r] = gguf_quantise(v + r, p->columns, p->rows, w + r, p->rows);
    gguf_node(&m->net, "%s = DequantizeLinear %s.bytes %s.steps ; axis=1", name, name, name);
    *to = (struct gguf_matrix){p->columns, p->rows, w, scale};
    return ST_OK;
}

/* The matrices of layer i, called i.q.weights and so on. */
static enum status matrices(struct llama *m, int i, struct gguf_matrix *to)
{
    const int64_t w = m->width, kv = m->kv_heads * m->head, n = m->inner;
    const char *before = NAMED(m, "blk.%d.attn_norm.weight", i);
    const char *between = NAMED(m, "blk.%d.ffn_norm.weight", i);
    const struct {
        const char *name;
        struct place place;
    } all[GGUF_PARTS] = {
        [GGUF_Q] = {"q", {"attn_q", before, w, w, true, false}},
        [GGUF_K] = {"k", {"attn_k", before, w, kv, true, false}},
        [GGUF_V] = {"v", {"attn_v", before, w, kv, false, false}},
        [GGUF_O] = {"o", {"attn_output", NULL, w, w, false, true}},
        [GGUF_GATE] = {"gate", {"ffn_gate", between, w, n, false, false}},
        [GGUF_UP] = {"up", {"ffn_up", between, w, n, false, false}},
        [GGUF_DOWN] = {"down", {"ffn_down", NULL, n, w, false, true}},
    };

    for (int k = 0; k < GGUF_PARTS; k++) {
        struct place p = all[k].place;

        p.name = NAMED(m, "blk.%d.%s.weight", i, p.name);
        TRY(matrix(m, NAMED(m, "%d.%s.weights", i, all[k].name), &p, &to[k]));
    }
    return ST_OK;
}

/* The embeddings, turned, in one scale. */
static enum status embeddings(struct llama *m, struct gguf_network *n)
{
    const int64_t dim[2] = {m->vocabulary, m->width}, all = m->vocabulary * m->width;
    float *v = ARENA_ARRAY(m->scratch, float, (size_t)all);
    int8_t *to = gguf_constant(&m->net, "table", OX_INT8, 2, dim);
    const struct gguf_tensor *t;

    TRY(gguf_weights(m, "token_embd.weight", m->width, m->vocabulary, &t));
    for (int64_t r = 0; r < m->vocabulary; r++) {
        gguf_row(t, (uint64_t)r, v + r * m->width);
        gguf_turn(&m->turn, v + r * m->width);
    }
    n->table = to;
    n->table_scale = gguf_quantise(v, all, 1, to, 1);
    return ST_OK;
}

/* Rows of positions: cosines and sines of a head in 1/127, 0 or less than any score. */
static void tables(struct llama *m, struct gguf_network *n)
{
    const int64_t half = m->head / 2, dim[2] = {m->context, m->head}, all = m->context * m->head;
    const int64_t square[2] = {m->context, m->context};
    int8_t *byte[2] = {gguf_constant(&m->net, "cosines", OX_INT8, 2, dim),
                       gguf_constant(&m->net, "sines", OX_INT8, 2, dim)};
    int8_t *mask = gguf_constant(&m->net, "masks", OX_INT8, 2, square);
    float *real[2] = {ARENA_ARRAY(m->net.arena, float, (size_t)all),
                      ARENA_ARRAY(m->net.arena, float, (size_t)all)};

    for (int64_t i = 0; i < all; i++) {
        double v[2];

        gguf_angle(m, i / m->head, i % half, &v[0], &v[1]);
        v[1] = i % m->head < half ? -v[1] : v[1];
        for (int k = 0; k < 2; k++)
            real[k][i] =
                (float)(byte[k][i] = (int8_t)fmax(-127, fmin(127, round(127 * v[k])))) / 127;
    }
    for (int64_t i = 0; i < m->context * m->context; i++)
        mask[i] = i % m->context > i / m->context ? -127 : 0;
    n->cosine = real[0];
    n->sine = real[1];
}

/* --- values --- */

static bool is_wide(const struct llama *m)
{
    return m->o->products == GGUF_STATIC16;
}

/* The last node's result is `name`, a value of the residual. */
static void residual(struct llama *m, const char *name)
{
    if (is_wide(m))
        gguf_wide_rounded(m, name);
    else
        gguf_rounded(m, name);
}

static void product(struct llama *m, const char *y, const char *x, const char *weights)
{
    gguf_node(&m->net, "%s = MatMul %s %s", y, x, weights);
    gguf_rounded(m, y);
}

static void norm(struct llama *m, const char *y, const char *x)
{
    if (is_wide(m)) {
        gguf_wide_norm(m, y, x);
        return;
    }
    gguf_node(&m->net, "%s = RMSNormalization %s ones ; axis=-1 epsilon=%.12f", y, x, m->epsilon);
    gguf_rounded(m, y);
}

/* --- layers --- */

/* i.which.turned = RoPE of i.which. */
static void turn(struct llama *m, int i, char which)
{
    const char *x = NAMED(m, "%d.%c", i, which);
    struct gguf_nodes *n = &m->net;

    gguf_node(n, "%s.heads = Reshape %s %c.shape", x, x, which);
    gguf_node(n, "%s.first = Slice %s.heads zero half last", x, x);
    gguf_node(n, "%s.second = Slice %s.heads half head last", x, x);
    gguf_node(n, "%s.swapped = Concat %s.second %s.first ; axis=3", x, x, x);
    gguf_node(n, "%s.cosines = Mul %s.heads cosine", x, x);
    gguf_rounded(m, NAMED(m, "%s.cosines", x));
    gguf_node(n, "%s.sines = Mul %s.swapped sine", x, x);
    gguf_rounded(m, NAMED(m, "%s.sines", x));
    gguf_node(n, "%s.turned = Add %s.cosines %s.sines", x, x, x);
    gguf_rounded(m, NAMED(m, "%s.turned", x));
}

/* Return the cache with the values of the token that begins, [kv_heads,head], at position 0; NULL
 * without one. */
static const uint8_t *first_cache(struct llama *m, const float *value, const char *range)
{
    const struct gguf_range *r = gguf_range(m->ranges, range);
    int8_t *to;

    if (!value)
        return NULL;
    to = ARENA_ARRAY(m->net.arena, int8_t, (size_t)(m->kv_heads * m->context * m->head));
    for (int64_t i = 0; i < m->kv_heads * m->head; i++)
        to[i / m->head * m->context * m->head + i % m->head] =
            gguf_byte_of(r->low, r->high, value[i]);
    return (uint8_t *)to;
}

/* The cache i.which takes value `now` at the position, as bytes; `begin`: of all layers. */
static void cache(struct llama *m, int i, char which, const char *now, const float *begin)
{
    const char *x = NAMED(m, "%d.%c", i, which);
    struct gguf_nodes *n = &m->net;

    gguf_node(n, "%s.row = Reshape %s k.shape", x, now);
    gguf_node(n, "%s.old = DequantizeLinear %s.before %s.step %s.zero", x, x, now, now);
    gguf_node(n, "%s.new = TensorScatter %s.old %s.row position ; axis=2", x, x, x);
    gguf_node(n, "%s.bytes = QuantizeLinear %s.new %s.step %s.zero", x, x, now, now);
    gguf_node(n, "%s.all = DequantizeLinear %s.bytes %s.step %s.zero", x, x, now, now);
    gguf_state(m, NAMED(m, "%s.before", x), NAMED(m, "%s.bytes", x), OX_INT8,
               first_cache(m, begin ? begin + i * m->kv_heads * m->head : NULL, now));
}

static float least_score(const struct llama *m, const struct gguf_range *scores)
{
    return scores->low - masked * sqrtf((float)m->head);
}

/* The step of a mask whose 127 is beyond the scores of each layer. */
static float mask_step(struct llama *m)
{
    float most = 0;

    for (int i = 0; i < (int)m->layers; i++) {
        const struct gguf_range *scores = gguf_range(m->ranges, NAMED(m, "%d.scores", i));

        most = fmaxf(most, scores->high - least_score(m, scores));
    }
    return most / 127;
}

static void attention(struct llama *m, int i)
{
    const struct gguf_range *scores = gguf_range(m->ranges, NAMED(m, "%d.scores", i));
    const char *h = NAMED(m, "%d.norm", i);
    struct gguf_nodes *n = &m->net;

    norm(m, h, NAMED(m, i ? "%d.end" : "embedding", i - 1));
    product(m, NAMED(m, "%d.q", i), h, NAMED(m, "%d.q.weights", i));
    product(m, NAMED(m, "%d.k", i), h, NAMED(m, "%d.k.weights", i));
    product(m, NAMED(m, "%d.v", i), h, NAMED(m, "%d.v.weights", i));
    turn(m, i, 'q');
    turn(m, i, 'k');
    cache(m, i, 'k', NAMED(m, "%d.k.turned", i), m->ranges->key);
    cache(m, i, 'v', NAMED(m, "%d.v", i), m->ranges->value);
    gguf_node(n, "%d.q.rows = Reshape %d.q.turned rows.shape", i, i);
    gguf_node(n, "%d.keys = Transpose %d.k.all ; perm=0,1,3,2", i, i);
    gguf_node(n, "%d.scores = MatMul %d.q.rows %d.keys", i, i, i);
    gguf_rounded(m, NAMED(m, "%d.scores", i));
    gguf_node(n, "%d.known = Add %d.scores mask", i, i);
    gguf_round_to(m, NAMED(m, "%d.known", i), least_score(m, scores), scores->high);
    gguf_node(n, "%d.logits = Mul %d.known step", i, i);
    gguf_node(n, "%d.shares = Softmax %d.logits", i, i);
    gguf_round_to(m, NAMED(m, "%d.shares", i), 0, 255.0f / 256);
    gguf_node(n, "%d.sum = MatMul %d.shares %d.v.all", i, i, i);
    gguf_rounded(m, NAMED(m, "%d.sum", i));
    gguf_node(n, "%d.sum.flat = Reshape %d.sum flat.shape", i, i);
    product(m, NAMED(m, "%d.o", i), NAMED(m, "%d.sum.flat", i), NAMED(m, "%d.o.weights", i));
    gguf_node(n, i ? "%d.x = Add %d.o %d.end" : "%d.x = Add %d.o embedding", i, i, i - 1);
    residual(m, NAMED(m, "%d.x", i));
}

/* i.excess = the values of the first channels beyond i.gated, which is clamped to `usual`. */
static void excess(struct llama *m, int i, float usual)
{
    const struct gguf_range *all = gguf_range(m->ranges, NAMED(m, "%d.gated", i));
    struct gguf_nodes *n = &m->net;

    gguf_scalar(m, NAMED(m, "%d.least", i), -usual);
    gguf_scalar(m, NAMED(m, "%d.most", i), usual);
    gguf_node(n, "%d.silu.first = Slice %d.silu zero outer channels", i, i);
    gguf_node(n, "%d.up.first = Slice %d.up zero outer channels", i, i);
    gguf_node(n, "%d.outer = Mul %d.silu.first %d.up.first", i, i, i);
    gguf_round_to(m, NAMED(m, "%d.outer", i), all->low, all->high);
    gguf_node(n, "%d.inside = Clip %d.outer %d.least %d.most", i, i, i, i);
    gguf_node(n, "%d.excess = Sub %d.outer %d.inside", i, i, i);
    gguf_round_to(m, NAMED(m, "%d.excess", i), fminf(all->low + usual, 0),
                  fmaxf(all->high - usual, 0));
}

/* The product of gated values. A range for all of them would be too coarse, because single channels have outliers; so these are the
 * first channels, and what they have beyond the others' range is a second product. */
static void down(struct llama *m, int i, const struct gguf_matrix *part)
{
    const float usual =
        gguf_outliers_first(m->scratch, &part[GGUF_GATE], &part[GGUF_UP], &part[GGUF_DOWN],
                            m->ranges->gated + i * m->inner, outer_channels(m));
    const struct gguf_matrix *w = &part[GGUF_DOWN];
    const struct gguf_range *gated = gguf_range(m->ranges, NAMED(m, "%d.gated", i));
    const struct gguf_range *sum = gguf_range(m->ranges, NAMED(m, "%d.down", i));
    const int64_t dim[2] = {outer_channels(m), w->rows};
    struct gguf_nodes *n = &m->net;

    memcpy(gguf_constant(n, NAMED(m, "%d.rest.bytes", i), OX_INT8, 2, dim), w->w,
           (size_t)(dim[0] * dim[1]));
    gguf_node(n, "%d.rest.weights = DequantizeLinear %d.rest.bytes %d.down.weights.steps ; axis=1",
              i, i, i);
    gguf_node(n, "%d.gated = Mul %d.silu %d.up", i, i, i);
    gguf_round_to(m, NAMED(m, "%d.gated", i), fmaxf(gated->low, -usual), fminf(gated->high, usual));
    excess(m, i, usual);
    gguf_node(n, "%d.main = MatMul %d.gated %d.down.weights", i, i, i);
    gguf_round_to(m, NAMED(m, "%d.main", i), sum->low, sum->high);
    gguf_node(n, "%d.rest = MatMul %d.excess %d.rest.weights", i, i, i);
    gguf_round_to(m, NAMED(m, "%d.rest", i), sum->low, sum->high);
    gguf_node(n, "%d.down = Add %d.main %d.rest", i, i, i);
    gguf_rounded(m, NAMED(m, "%d.down", i));
}

/* The product of gated values in int16, whose step is more than that of the product of two bytes. */
static void wide_down(struct llama *m, int i)
{
    const float step =
        1.01f * gguf_step_of(m, NAMED(m, "%d.silu", i)) * gguf_step_of(m, NAMED(m, "%d.up", i));

    gguf_node(&m->net, "%d.gated = Mul %d.silu %d.up", i, i, i);
    gguf_round_wide(m, NAMED(m, "%d.gated", i),
                    fmaxf(gguf_wide_most(m, NAMED(m, "%d.gated", i)), step * INT16_MAX));
    gguf_node(&m->net, "%d.down = MatMul %d.gated %d.down.weights", i, i, i);
    gguf_wide_rounded(m, NAMED(m, "%d.down", i));
}

static void feed_forward(struct llama *m, int i, const struct gguf_matrix *part)
{
    const char *h = NAMED(m, "%d.ffn_norm", i);
    struct gguf_nodes *n = &m->net;

    norm(m, h, NAMED(m, "%d.x", i));
    product(m, NAMED(m, "%d.gate", i), h, NAMED(m, "%d.gate.weights", i));
    product(m, NAMED(m, "%d.up", i), h, NAMED(m, "%d.up.weights", i));
    gguf_node(n, "%d.sigmoid = Sigmoid %d.gate", i, i);
    gguf_node(n, "%d.silu = Mul %d.gate %d.sigmoid", i, i, i);
    gguf_rounded(m, NAMED(m, "%d.silu", i));
    if (is_wide(m))
        wide_down(m, i);
    else
        down(m, i, part);
    gguf_node(n, "%d.end = Add %d.down %d.x", i, i, i);
    residual(m, NAMED(m, "%d.end", i));
}

/* --- the network --- */

static void index_of(struct llama *m, const char *name, int64_t v)
{
    const int64_t one = 1;

    *(int64_t *)gguf_constant(&m->net, name, OX_INT64, 1, &one) = v;
}

static void gains_of_one(struct llama *m)
{
    float *ones = gguf_constant(&m->net, "ones", OX_FLOAT, 1, &m->width);

    for (int64_t i = 0; i < m->width; i++)
        ones[i] = 1;
}

static void shared_nodes(struct llama *m, const struct gguf_network *n)
{
    if (is_wide(m))
        gguf_wide_constants(m);
    else
        gains_of_one(m);
    gguf_scalar(m, "table.step", n->table_scale);
    gguf_scalar(m, "turn.step", 1.0f / 127);
    gguf_scalar(m, "mask.step", mask_step(m));
    gguf_scalar(m, "step", 1 / sqrtf((float)m->head));
    index_of(m, "zero", 0);
    index_of(m, "half", m->head / 2);
    index_of(m, "head", m->head);
    index_of(m, "last", 3);
    index_of(m, "channels", 2);
    index_of(m, "outer", outer_channels(m));
    gguf_shape(m, "q.shape", 1, m->heads, m->head);
    gguf_shape(m, "rows.shape", m->kv_heads, m->heads / m->kv_heads, m->head);
    gguf_shape(m, "k.shape", m->kv_heads, 1, m->head);
    gguf_flat_shape(m);
    gguf_node(&m->net, "embedding.row = Gather table token");
    gguf_node(&m->net, "embedding = DequantizeLinear embedding.row table.step");
    if (is_wide(m))
        gguf_round_wide(m, "embedding", 256 * n->table_scale);
    gguf_node(&m->net, "cosine.byte = Gather cosines position");
    gguf_node(&m->net, "cosine = DequantizeLinear cosine.byte turn.step");
    gguf_node(&m->net, "sine.byte = Gather sines position");
    gguf_node(&m->net, "sine = DequantizeLinear sine.byte turn.step");
    gguf_node(&m->net, "mask.byte = Gather masks position");
    gguf_node(&m->net, "mask = DequantizeLinear mask.byte mask.step");
}

static enum status constants(struct llama *m, struct gguf_network *n, struct gguf_matrix *part)
{
    const bool tied = !gguf_tensor(m->f, "output.weight");
    const struct place last = {tied ? "token_embd.weight" : "output.weight",
                               "output_norm.weight",
                               m->width,
                               m->vocabulary,
                               false,
                               false};

    TRY(embeddings(m, n));
    for (int i = 0; i < (int)m->layers; i++)
        TRY(matrices(m, i, part + i * GGUF_PARTS));
    TRY(matrix(m, "logits.weights", &last, &n->logits));
    tables(m, n);
    return ST_OK;
}

static void nodes(struct llama *m, const struct gguf_network *n, const struct gguf_matrix *part)
{
    m->ranges = gguf_see(m->net.arena, n);
    shared_nodes(m, n);
    for (int i = 0; i < (int)m->layers; i++) {
        attention(m, i);
        feed_forward(m, i, part + i * GGUF_PARTS);
    }
    norm(m, "norm", NAMED(m, "%d.end", (int)m->layers - 1));
    product(m, "logits", "norm", "logits.weights");
}

enum status gguf_static(struct llama *m)
{
    struct gguf_matrix *part =
        ARENA_ARRAY(m->net.arena, struct gguf_matrix, (size_t)(m->layers * GGUF_PARTS));
    struct gguf_network n = {m->layers,
                             m->width,
                             m->inner,
                             m->heads,
                             m->kv_heads,
                             m->head,
                             m->vocabulary,
                             m->context,
                             (float)m->epsilon,
                             .part = part,
                             .begin = gguf_begin(m->f, m->o)};
    enum status st;

    if (n.begin >= 0 && m->context < 2)
        return FAIL(m->d, ST_USAGE,
                    "--context: expected at least 2, since the token that begins has the first "
                    "position");
    m->turn = gguf_turn_of(m->net.arena, m->width);
    m->scratch = arena_beside(m->net.arena);
    st = constants(m, &n, part);
    if (st == ST_OK)
        nodes(m, &n, part);
    arena_free(m->scratch);
    return st;
}
