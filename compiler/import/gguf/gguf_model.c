/* gguf_model.c - see gguf_model.h. */
#include "gguf_model.h"

#include <math.h>
#include <string.h>

enum { MOST_LAYERS = 1024, MOST_SIZE = 1 << 20 };

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

enum status gguf_sizes(struct llama *m)
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

int64_t gguf_begin(const struct gguf *f, const struct gguf_options *o)
{
    const struct gguf_tensor *table = gguf_tensor(f, "token_embd.weight");
    const double id = gguf_number(f, "tokenizer.ggml.bos_token_id", -1);

    return gguf_is_static(o) && table && id >= 0 && id < (double)table->dim[1] ? (int64_t)id : -1;
}

/* --- constants --- */

enum status gguf_weights(const struct llama *m, const char *name, int64_t columns, int64_t rows,
                         const struct gguf_tensor **t)
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

float gguf_quantise(const float *v, int64_t n, int64_t v_step, int8_t *to, int64_t step)
{
    float most = 0;

    for (int64_t k = 0; k < n; k++)
        most = fmaxf(most, fabsf(v[k * v_step]));
    for (int64_t k = 0; k < n; k++)
        to[k * step] =
            (int8_t)(most > 0 ? fminf(fmaxf(rintf(v[k * v_step] / most * 127), -127), 127) : 0);
    return most / 127;
}

int64_t gguf_half_place(const struct llama *m, int64_t row)
{
    const int64_t i = row % m->head;

    return row - i + i / 2 + i % 2 * (m->head / 2);
}

void gguf_angle(const struct llama *m, int64_t p, int64_t i, double *cosine, double *sine)
{
    const double angle = (double)p * pow(m->base, -2.0 * (double)i / (double)m->head);

    *cosine = cos(angle);
    *sine = sin(angle);
}

void gguf_scalar(struct llama *m, const char *name, float v)
{
    *(float *)gguf_constant(&m->net, name, OX_FLOAT, 0, NULL) = v;
}

void gguf_shape(struct llama *m, const char *name, int64_t heads, int64_t rows, int64_t columns)
{
    const int64_t rank = 4, dim[4] = {1, heads, rows, columns};

    memcpy(gguf_constant(&m->net, name, OX_INT64, 1, &rank), dim, sizeof dim);
}

void gguf_flat_shape(struct llama *m)
{
    const int64_t rank = 3, dim[3] = {1, 1, m->width};

    memcpy(gguf_constant(&m->net, "flat.shape", OX_INT64, 1, &rank), dim, sizeof dim);
}

/* --- borders --- */

void gguf_borders(struct llama *m)
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

void gguf_state(struct llama *m, const char *before, const char *after, enum ox_type type,
                const uint8_t *initial)
{
    struct onnx_state *s = &m->state[m->net.graph.n_output - 1];
    const int64_t dim[4] = {1, m->kv_heads, m->context, m->head};
    Onnx__GraphProto *g = &m->net.graph;

    *s = (struct onnx_state){before, after, initial};
    g->input[g->n_input++] = ox_new_border(m->net.arena, before, (int32_t)type, 4, dim);
    g->output[g->n_output++] = ox_new_border(m->net.arena, after, (int32_t)type, 4, dim);
}
