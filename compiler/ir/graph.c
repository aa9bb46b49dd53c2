/* graph.c - make tensors and operators and keep producer links correct. */
#include "ir.h"

#include <string.h>

struct ir_graph *ir_graph_new(struct arena *a, const char *name)
{
    struct ir_graph *g = ARENA_NEW(a, struct ir_graph);

    g->arena = a;
    g->name = arena_strdup(a, name);
    return g;
}

struct ir_tensor *ir_tensor_new(struct ir_graph *g, const char *name, enum ir_type type,
                                uint32_t rank, const int32_t *dim)
{
    struct ir_tensor *t = ARENA_NEW(g->arena, struct ir_tensor);

    t->id = g->n_tensor;
    t->name = name;
    t->type = type;
    t->rank = rank;
    for (uint32_t i = 0; i < rank && i < IR_MAX_RANK; i++)
        t->dim[i] = dim[i];
    t->producer = IR_NONE;
    ARENA_GROW(g->arena, g->tensor, g->n_tensor, &g->cap_tensor);
    g->tensor[g->n_tensor++] = t;
    return t;
}

struct ir_op *ir_op_new(struct ir_graph *g, enum ir_opcode opcode, uint32_t row, uint32_t n_in,
                        uint32_t n_out)
{
    struct ir_op *op = ARENA_NEW(g->arena, struct ir_op);

    op->id = g->n_op;
    op->opcode = opcode;
    op->row = row;
    op->n_in = n_in;
    op->n_out = n_out;
    op->in = ARENA_ARRAY(g->arena, uint32_t, n_in);
    op->out = ARENA_ARRAY(g->arena, uint32_t, n_out);
    for (uint32_t i = 0; i < n_in; i++)
        op->in[i] = IR_NONE;
    for (uint32_t i = 0; i < n_out; i++)
        op->out[i] = IR_NONE;
    op->target = IR_NONE;
    op->region = IR_NONE;
    op->call = IR_NONE;
    ARENA_GROW(g->arena, g->op, g->n_op, &g->cap_op);
    g->op[g->n_op++] = op;
    return op;
}

bool ir_shape_ok(uint32_t rank, const int32_t *dim, enum ir_type type)
{
    uint64_t n = ir_type_bytes(type);

    if (rank > IR_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dim[i] < 1)
            return false;
        n *= (uint64_t)dim[i]; /* the product was below 2^31, so it is below 2^62 here */
        if (n > INT32_MAX)
            return false;
    }
    return true;
}

uint64_t ir_elements(const struct ir_tensor *t)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        n *= (uint64_t)t->dim[i];
    return n;
}

bool ir_same_shape(const struct ir_tensor *a, const struct ir_tensor *b)
{
    bool same = a->rank == b->rank;

    for (uint32_t i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

uint64_t ir_bytes(const struct ir_tensor *t)
{
    return ir_elements(t) * ir_type_bytes(t->type);
}

uint64_t ir_border_bytes(const struct ir_tensor *t)
{
    return ir_elements(t) * ir_type_bytes(t->quantised ? IR_F32 : t->type);
}

double ir_element(const struct ir_tensor *t, const uint8_t *bytes, uint64_t i)
{
    int16_t i2;
    int32_t i4;
    int64_t i8;
    float f4;

    switch (t->type) {
    case IR_I8: return (int8_t)bytes[i];
    case IR_I16: memcpy(&i2, bytes + 2 * i, 2); return i2;
    case IR_I32: memcpy(&i4, bytes + 4 * i, 4); return i4;
    case IR_I64: memcpy(&i8, bytes + 8 * i, 8); return (double)i8;
    case IR_F32: memcpy(&f4, bytes + 4 * i, 4); return (double)f4;
    default: return bytes[i];
    }
}

int32_t ir_dim_back(const struct ir_tensor *t, uint32_t back)
{
    return back < t->rank ? t->dim[t->rank - 1 - back] : 1;
}

void ir_halves_shape(const struct ir_tensor *t, int32_t dim[4])
{
    const bool image = t->rank == 4;

    dim[0] = image ? t->dim[0] : 1;
    dim[1] = image ? t->dim[1] : (int32_t)(ir_elements(t) / (uint64_t)ir_dim_back(t, 0));
    dim[2] = image ? 2 * t->dim[2] : 2;
    dim[3] = ir_dim_back(t, 0);
}

bool ir_dequantises_i8(const struct ir_graph *g, const struct ir_op *op)
{
    return !op->dead && op->opcode == IR_OP_DEQUANTIZE && ir_in(g, op, 0)->type == IR_I8;
}

int32_t ir_in_blocks(int32_t each, int32_t n)
{
    each = each > 0 ? each : 1;
    return (n + each - 1) / each * each;
}

bool ir_ends_call(const struct ir_graph *g, uint32_t position)
{
    const uint32_t call = g->op[position]->call;

    return call == IR_NONE || position + 1 == g->n_op || g->op[position + 1]->call != call;
}

bool ir_inside_call(const struct ir_graph *g, uint32_t tensor)
{
    const struct ir_tensor *t = g->tensor[tensor];
    const uint32_t call = t->producer == IR_NONE ? IR_NONE : g->op[t->producer]->call;
    bool inside = call != IR_NONE && !t->is_output;

    for (uint32_t i = 0; i < g->n_op && inside; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            inside = inside && (g->op[i]->in[k] != tensor || g->op[i]->call == call);
    return inside;
}

uint32_t ir_uses(const struct ir_graph *g, uint32_t id)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_op; i++) {
        const struct ir_op *op = g->op[i];

        for (uint32_t k = 0; !op->dead && k < op->n_in; k++)
            n += op->in[k] == id;
    }
    return n;
}

uint32_t ir_storage(const struct ir_graph *g, uint32_t id)
{
    while (g->tensor[id]->producer != IR_NONE) {
        const struct ir_op *op = g->op[g->tensor[id]->producer];

        if (!ir_is_reshape(op))
            break;
        id = op->in[0];
    }
    return id;
}

const char *ir_shape_text(struct arena *a, uint32_t rank, const int32_t *dim)
{
    struct text t;

    text_init(&t, a);
    if (rank == 0)
        text_add(&t, "scalar");
    for (uint32_t i = 0; i < rank; i++)
        text_printf(&t, "%s%d", i == 0 ? "" : "x", dim[i]);
    return t.data;
}

/* Return true if the producers of all value inputs of `op` are already placed. */
static bool ready(const struct ir_graph *g, const struct ir_op *op)
{
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i] != IR_NONE && g->tensor[op->in[i]]->role == IR_VALUE &&
            g->tensor[op->in[i]]->producer == IR_NONE)
            return false;
    return true;
}

static void place(struct ir_graph *g, struct ir_op *op, uint32_t at)
{
    op->id = at;
    for (uint32_t i = 0; i < op->n_out; i++)
        g->tensor[op->out[i]]->producer = at;
}

void ir_move_op(struct ir_graph *g, uint32_t from, uint32_t to)
{
    struct ir_op *moved = g->op[from];

    memmove(&g->op[to + 1], &g->op[to], (from - to) * sizeof(struct ir_op *));
    g->op[to] = moved;
    for (uint32_t i = to; i <= from; i++)
        place(g, g->op[i], i);
}

/* Sort stably in topological order: repeatedly take the first ready operator. Linear if the order
 * is correct already, the usual case. Operators with state keep their order. */
enum status ir_link(struct ir_graph *g, struct diag *d)
{
    struct ir_op **order = ARENA_ARRAY(g->arena, struct ir_op *, g->n_op);
    uint32_t n_left = 0, n_placed = 0;

    for (uint32_t i = 0; i < g->n_tensor; i++)
        g->tensor[i]->producer = IR_NONE;
    for (uint32_t i = 0; i < g->n_op; i++)
        if (!g->op[i]->dead)
            g->op[n_left++] = g->op[i];
    while (n_left > 0) {
        uint32_t n_waiting = 0;
        bool state_waits = false;

        for (uint32_t i = 0; i < n_left; i++) {
            struct ir_op *op = g->op[i];

            state_waits = state_waits || (ir_op_info(op->opcode)->has_state && !ready(g, op));
            if (ready(g, op) && !(state_waits && ir_op_info(op->opcode)->has_state)) {
                order[n_placed] = op;
                place(g, op, n_placed++);
            } else {
                g->op[n_waiting++] = op;
            }
        }
        if (n_waiting == n_left)
            return FAIL(d, ST_MODEL, "operator of row %u (%s) depends on its own output",
                        g->op[0]->row, ir_op_info(g->op[0]->opcode)->name);
        n_left = n_waiting;
    }
    for (uint32_t i = 0; i < n_placed; i++)
        g->op[i] = order[i];
    g->n_op = n_placed;
    return ST_OK;
}

const struct ir_tensor *ir_border(const struct ir_graph *g, uint32_t id)
{
    const struct ir_tensor *t = g->tensor[id];

    if (t->quantised) {
        struct ir_tensor *f32 = arena_memdup(g->arena, t, sizeof *t);

        f32->type = IR_F32;
        f32->quant = (struct ir_quant){0};
        f32->quantised = false;
        return f32;
    }
    if (!t->flipped)
        return t;
    struct ir_tensor *u8 = arena_memdup(g->arena, t, sizeof *t);
    int32_t *zero = ARENA_ARRAY(g->arena, int32_t, t->quant.n + 1);
    for (uint32_t i = 0; i < t->quant.n; i++)
        zero[i] = t->quant.zero_point[i] + 128;
    u8->type = IR_U8;
    u8->quant.zero_point = zero;
    u8->flipped = false;
    return u8;
}

void ir_note_bias(struct ir_graph *g, const char *name, double found, double product)
{
    if (g->bias_note.n++ == 0)
        g->bias_note = (struct ir_bias_note){1, name, found, product};
}

void ir_note_open(struct ir_graph *g, const char *input, uint32_t dim, int32_t size)
{
    enum { LONG = 500 };
    const char *before = g->open_note ? g->open_note : "";
    const size_t n = strlen(before);

    if (n < LONG)
        g->open_note = arena_printf(g->arena, "%s%sdimension %u of input '%.80s' as %d", before,
                                    n ? ", " : "", dim, input, size);
    else if (before[n - 1] != '.')
        g->open_note = arena_printf(g->arena, "%s, ...", before);
}
