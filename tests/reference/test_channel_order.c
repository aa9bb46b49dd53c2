/* test_channel_order.c - random networks that shuffle, take and join channels give the same bytes
 * after the passes, and no move of bytes is left between convolutions that could take it.
 * The seed is printed; HEDDLE_SEED=N repeats network N alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "compiler/graph_passes.h"
#include "compiler/legalise/new_ops.h"
#include "reference/ref.h"

enum { NETWORKS = 400, MOST = 64, SIZE = 3 };

struct net {
    struct arena *a;
    struct ir_graph *g;
    uint64_t seed;
    uint32_t image[MOST], n; /* tensors [1,SIZE,SIZE,C] to read */
};

static uint32_t next(struct net *m, uint32_t below)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % below;
}

static const void *floats(struct net *m, float v)
{
    return arena_memdup(m->a, &v, sizeof v);
}

static struct ir_tensor *tensor(struct net *m, enum ir_type type, uint32_t rank, const int32_t *dim)
{
    struct ir_tensor *t =
        ir_tensor_new(m->g, arena_printf(m->a, "t%u", m->g->n_tensor), type, rank, dim);

    if (type == IR_I8) /* one scale everywhere: all may be joined */
        t->quant = (struct ir_quant){1, 0, floats(m, 0.25f),
                                     arena_memdup(m->a, &(int32_t){-5}, sizeof(int32_t))};
    return t;
}

static uint32_t weights(struct net *m, const int32_t *dim)
{
    struct ir_tensor *t = tensor(m, IR_I8, 4, dim);
    uint8_t *data = arena_alloc(m->a, (size_t)ir_bytes(t));

    for (size_t i = 0; i < (size_t)ir_bytes(t); i++)
        data[i] = (uint8_t)next(m, 256);
    t->role = IR_CONST;
    t->data = data;
    t->quant = (struct ir_quant){1, 0, floats(m, 0.01f),
                                 arena_memdup(m->a, &(int32_t){0}, sizeof(int32_t))};
    return t->id;
}

static struct ir_op *add(struct net *m, enum ir_opcode opcode, uint32_t n_in, const uint32_t *in,
                         uint32_t rank, const int32_t *dim)
{
    struct ir_row *rows = ARENA_ARRAY(m->a, struct ir_row, m->g->n_row + 1);
    struct ir_tensor *y = tensor(m, IR_I8, rank, dim);

    if (m->g->n_row)
        memcpy(rows, m->g->row, m->g->n_row * sizeof *rows);
    rows[m->g->n_row] = (struct ir_row){.name = arena_printf(m->a, "%02u", m->g->n_row),
                                        .op = "",
                                        .tensor = y->name,
                                        .shape = "",
                                        .fused_into = IR_NONE};
    m->g->row = rows;
    struct ir_op *op = ir_op_new(m->g, opcode, m->g->n_row++, n_in, 1);
    memcpy(op->in, in, n_in * sizeof *in);
    op->out[0] = y->id;
    y->producer = op->id;
    return op;
}

static uint32_t move(struct net *m, enum ir_opcode opcode, uint32_t x, uint32_t with, uint32_t rank,
                     const int32_t *dim)
{
    return add(m, opcode, with == IR_NONE ? 1 : 2, (const uint32_t[]){x, with}, rank, dim)->out[0];
}

static int32_t channels(const struct net *m, uint32_t id)
{
    return ir_dim_back(m->g->tensor[id], 0);
}

static uint32_t any(struct net *m)
{
    return m->image[m->n - 1 - next(m, m->n < 4 ? m->n : 4)];
}

static void keep(struct net *m, uint32_t id)
{
    m->image[m->n++] = id;
}

static void convolution(struct net *m, bool depthwise)
{
    const uint32_t x = any(m);
    const int32_t c = channels(m, x), k = next(m, 2) ? 3 : 1;
    const int32_t by = depthwise ? 1 + (int32_t)next(m, c > 30 ? 1 : 2) : 0;
    const int32_t oc = depthwise ? c * by : 1 + (int32_t)next(m, 20);
    const uint32_t w = weights(m, (const int32_t[]){depthwise ? 1 : oc, k, k, depthwise ? oc : c});
    struct ir_op *op = add(m, depthwise ? IR_OP_DEPTHWISE_CONV2D : IR_OP_CONV2D, 2,
                           (const uint32_t[]){x, w}, 4, (const int32_t[]){1, SIZE, SIZE, oc});

    for (uint32_t i = IR_STRIDE_H; i <= IR_DILATION_W; i++)
        op->attr[i] = 1;
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        op->attr[i] = k / 2;
    op->attr[IR_KERNEL_H] = op->attr[IR_KERNEL_W] = k;
    op->attr[IR_MULTIPLIER] = by;
    keep(m, op->out[0]);
}

static void join(struct net *m)
{
    const uint32_t x[2] = {any(m), any(m)};
    const int32_t c = channels(m, x[0]) + channels(m, x[1]);

    if (c > 60)
        return;
    struct ir_op *op = add(m, IR_OP_CONCATENATION, 2, x, 4, (const int32_t[]){1, SIZE, SIZE, c});
    op->attr[IR_AXIS] = 3;
    keep(m, op->out[0]);
}

/* Channels c = k * n + i become i * (C / n) + k; as [1,H,W,C] or by way of [1,C,H,W]. */
static void shuffle(struct net *m)
{
    const uint32_t x = any(m);
    const int32_t c = channels(m, x), n = c % 2 == 0 ? 2 : c % 3 == 0 ? 3 : 1, k = c / n;
    uint32_t t;

    if (next(m, 2)) {
        t = move(m, IR_OP_RESHAPE, x, IR_NONE, 5, (const int32_t[]){1, SIZE, SIZE, k, n});
        t = move(m, IR_OP_TRANSPOSE, t, lgl_new_numbers(m->g, 5, (const int32_t[]){0, 1, 2, 4, 3}),
                 5, (const int32_t[]){1, SIZE, SIZE, n, k});
    } else {
        t = move(m, IR_OP_TRANSPOSE, x, lgl_new_numbers(m->g, 4, (const int32_t[]){0, 3, 1, 2}), 4,
                 (const int32_t[]){1, c, SIZE, SIZE});
        t = move(m, IR_OP_RESHAPE, t, IR_NONE, 3, (const int32_t[]){k, n, SIZE * SIZE});
        t = move(m, IR_OP_TRANSPOSE, t, lgl_new_numbers(m->g, 3, (const int32_t[]){1, 0, 2}), 3,
                 (const int32_t[]){n, k, SIZE * SIZE});
        t = move(m, IR_OP_RESHAPE, t, IR_NONE, 4, (const int32_t[]){1, c, SIZE, SIZE});
        t = move(m, IR_OP_TRANSPOSE, t, lgl_new_numbers(m->g, 4, (const int32_t[]){0, 2, 3, 1}), 4,
                 (const int32_t[]){1, SIZE, SIZE, c});
    }
    keep(m, move(m, IR_OP_RESHAPE, t, IR_NONE, 4, (const int32_t[]){1, SIZE, SIZE, c}));
}

static void gather(struct net *m)
{
    const uint32_t x = any(m);
    const int32_t c = channels(m, x), n = 1 + (int32_t)next(m, (uint32_t)c);
    int32_t index[64];

    for (int32_t i = 0; i < n; i++)
        index[i] = (int32_t)next(m, (uint32_t)c);
    const uint32_t t = move(m, IR_OP_GATHER, x, lgl_new_numbers(m->g, (uint32_t)n, index), 4,
                            (const int32_t[]){1, SIZE, SIZE, n});
    m->g->op[m->g->n_op - 1]->attr[IR_AXIS] = 3;
    keep(m, t);
}

/* Both parts of a split; or every second channel, forwards or backwards. */
static void split(struct net *m)
{
    const uint32_t x = any(m);
    const int32_t c = channels(m, x), step = next(m, 2) ? 1 : next(m, 2) ? 2 : -2;
    const int32_t steps[4] = {1, 1, 1, step};

    for (int32_t half = 0; half < 2 && c > 1; half++) {
        int32_t n = step == 1 ? (half ? c - c / 2 : c / 2) : c / 2;
        int32_t begin[4] = {0, 0, 0, step == 1 ? half * (c / 2) : step == 2 ? half : c - 1 - half};
        const uint32_t in[3] = {x, lgl_new_numbers(m->g, 4, begin),
                                lgl_new_numbers(m->g, 4, steps)};
        keep(m, add(m, IR_OP_SLICE, 3, in, 4, (const int32_t[]){1, SIZE, SIZE, n})->out[0]);
    }
}

static void pool(struct net *m)
{
    const uint32_t x = any(m);
    struct ir_op *op = add(m, next(m, 2) ? IR_OP_MAX_POOL2D : IR_OP_AVERAGE_POOL2D, 1, &x, 4,
                           m->g->tensor[x]->dim);

    op->attr[IR_STRIDE_H] = op->attr[IR_STRIDE_W] = 1;
    op->attr[IR_KERNEL_H] = op->attr[IR_KERNEL_W] = 3;
    for (uint32_t i = IR_PAD_TOP; i <= IR_PAD_RIGHT; i++)
        op->attr[i] = 1;
    keep(m, op->out[0]);
}

/* To twice the size and back. */
static void resize(struct net *m)
{
    const uint32_t x = any(m);
    const int32_t c = channels(m, x);
    const uint32_t large =
        add(m, IR_OP_RESIZE_BILINEAR, 1, &x, 4, (const int32_t[]){1, 2 * SIZE, 2 * SIZE, c})
            ->out[0];

    keep(m, add(m, IR_OP_RESIZE_BILINEAR, 1, &large, 4, m->g->tensor[x]->dim)->out[0]);
}

static void sum(struct net *m)
{
    const uint32_t x[2] = {any(m), any(m)};

    if (channels(m, x[0]) == channels(m, x[1]))
        keep(m, add(m, IR_OP_ADD, 2, x, 4, m->g->tensor[x[0]]->dim)->out[0]);
}

/* The image as one row, through a RESHAPE or not, times weights. */
static uint32_t head(struct net *m, uint32_t x)
{
    const int32_t k = (int32_t)ir_elements(m->g->tensor[x]), oc = 1 + (int32_t)next(m, 9);
    const uint32_t filter = weights(m, (const int32_t[]){1, 1, oc, k});
    struct ir_tensor *w = m->g->tensor[filter];

    if (next(m, 2))
        x = move(m, IR_OP_RESHAPE, x, IR_NONE, 2, (const int32_t[]){1, k});
    w->rank = 2;
    w->dim[0] = oc;
    w->dim[1] = k;
    return add(m, IR_OP_FULLY_CONNECTED, 2, (const uint32_t[]){x, w->id}, 2,
               (const int32_t[]){1, oc})
        ->out[0];
}

static void make(struct net *m)
{
    struct ir_tensor *x;

    m->g = ir_graph_new(m->a, "shuffles");
    x = tensor(m, IR_I8, 4, (const int32_t[]){1, SIZE, SIZE, 1 + (int32_t)next(m, 16)});
    x->role = IR_INPUT;
    m->g->in = arena_memdup(m->a, &x->id, sizeof x->id);
    m->g->n_in = 1;
    keep(m, x->id);
    for (uint32_t n = 4 + next(m, 16); n > 0; n--)
        switch (next(m, 11)) {
        case 0:
        case 1:
        case 2: convolution(m, false); break;
        case 3: convolution(m, true); break;
        case 4:
        case 5: join(m); break;
        case 6: shuffle(m); break;
        case 7: split(m); break;
        case 8: next(m, 2) ? pool(m) : sum(m); break;
        case 9: resize(m); break;
        default: gather(m); break;
        }
    m->g->out = ARENA_ARRAY(m->a, uint32_t, 3);
    m->g->out[m->g->n_out++] = m->n > 1 ? m->image[m->n - 1] : head(m, x->id);
    m->g->out[m->g->n_out++] = head(m, any(m));
    for (uint32_t i = 0; i < m->g->n_out; i++)
        m->g->tensor[m->g->out[i]]->is_output = true;
}

static uint8_t *run(struct net *m, bool legalised, uint32_t i)
{
    const struct ref_options o = {.legalised = legalised};
    const size_t n = (size_t)ir_bytes(m->g->tensor[m->g->in[0]]);
    uint8_t *in = arena_alloc(m->a, n), *out[3];
    struct diag d = {0};

    for (size_t k = 0; k < n; k++)
        in[k] = (uint8_t)(k * 89 + (k >> 3) * 7);
    for (uint32_t k = 0; k < m->g->n_out; k++)
        out[k] = arena_alloc(m->a, (size_t)ir_bytes(m->g->tensor[m->g->out[k]]));
    if (ref_run(ref_new(m->a, m->g, &o), (const uint8_t *const[]){in}, out, &d) != ST_OK)
        fail_msg("%s", d.text);
    return out[i];
}

static void check(uint64_t seed)
{
    const struct lgl_options o = {.fc_scale = LGL_FC_CLASSIC};
    struct net m = {.a = arena_new(0), .seed = seed * 0x9e3779b97f4a7c15u};
    struct diag d = {0};
    uint8_t *want[3];

    make(&m);
    if (ir_verify(m.g, "made", &d) != ST_OK)
        fail_msg("network %u: %s", (unsigned)seed, d.text);
    for (uint32_t i = 0; i < m.g->n_out; i++)
        want[i] = run(&m, false, i);
    if (passes_run(m.g, &o, &d) != ST_OK)
        fail_msg("network %u: %s", (unsigned)seed, d.text);
    for (uint32_t i = 0; i < m.g->n_out; i++)
        if (memcmp(want[i], run(&m, true, i), (size_t)ir_bytes(m.g->tensor[m.g->out[i]])) != 0)
            fail_msg("network %u: output %u differs; HEDDLE_SEED=%u", (unsigned)seed, i,
                     (unsigned)seed);
    arena_free(m.a);
}

static void random_shuffles_keep_their_bytes(void **state)
{
    const char *seed = getenv("HEDDLE_SEED");

    (void)state;
    print_message("seeds 1 to %d\n", NETWORKS);
    for (uint64_t i = 1; i <= NETWORKS; i++)
        check(seed ? strtoull(seed, NULL, 0) : i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_shuffles_keep_their_bytes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
