/* partition_uint8.c - operators on uint8 patterns read and write uint8 again, which legalise made int8:
 * their tensors become uint8, and a QUANTIZE on the host flips the top bit where other operators
 * exchange them. Next to the network's own flips nothing is flipped at all. */
#include "partition_uint8.h"

#include "compiler/target/describe.h"

struct flips {
    const struct partition *p;
    struct ir_graph *g;
    uint32_t *like;    /* by tensor: its uint8 form, or IR_NONE */
    struct ir_op **op; /* the new order */
    uint32_t n;
};

static bool takes_uint8(const struct flips *f, const struct ir_op *op)
{
    const struct target *t = f->p->targets->target[op->target];
    const struct target_question q = {f->g->arena, f->g, op, t, target_hw(t, f->p->hw), {0, 0}};
    struct composite_match m;
    const struct describe_composite *c;
    const struct describe_pattern *p;

    if (op->dead || !t->desc->outside)
        return false;
    c = composite_of(&q, &m);
    for (uint32_t s = 0; c && s < c->n_step; s++)
        if (f->g->op[m.op[s]] == op)
            return c->step[s].pattern.dtype == IR_U8;
    p = describe_pattern_of(&q);
    return p && p->dtype == IR_U8;
}

/* Return true if it changes int8 to uint8 or back, and no value. */
static bool is_flip(const struct ir_graph *g, const struct ir_op *op, enum ir_type from)
{
    const struct ir_tensor *x = ir_in(g, op, 0), *y = ir_out(g, op, 0);
    const enum ir_type to = from == IR_U8 ? IR_I8 : IR_U8;

    return !op->dead && op->opcode == IR_OP_QUANTIZE && x->type == from && y->type == to &&
           x->quant.n == 1 && y->quant.n == 1 && x->quant.scale[0] == y->quant.scale[0] &&
           ir_zero_point(x) - ir_zero_point(y) == (from == IR_U8 ? 128 : -128);
}

/* A tensor with the same values as uint8; bytes of constants, too. */
static uint32_t new_like(struct flips *f, const struct ir_tensor *t)
{
    struct ir_tensor *u = ir_tensor_new(f->g, t->name, IR_U8, t->rank, t->dim);
    int32_t *zero = ARENA_ARRAY(f->g->arena, int32_t, t->quant.n + 1);

    for (uint32_t i = 0; i < t->quant.n; i++)
        zero[i] = t->quant.zero_point[i] + 128;
    u->quant = t->quant;
    u->quant.zero_point = zero;
    if (t->role == IR_CONST) {
        uint8_t *data = arena_memdup(f->g->arena, t->data, (size_t)ir_bytes(t));
        for (uint64_t i = 0; i < ir_bytes(t); i++)
            data[i] ^= 0x80;
        u->role = IR_CONST;
        u->data = data;
    }
    return f->like[t->id] = u->id;
}

static void add_flip(struct flips *f, uint32_t row, uint32_t from, uint32_t to)
{
    struct ir_op *op = ir_make_quantize(f->g, row, 1, 1);
    const bool down = f->g->tensor[from]->type == IR_U8;
    static const int32_t multiplier = 1 << 30;
    static const int8_t shift = 1;

    f->g->n_op--; /* it gets its place in the new order */
    op->in[0] = from;
    op->out[0] = to;
    op->target = f->p->targets->n - 1;
    op->region = IR_NONE;
    op->reason = "uint8 to and from a target";
    op->fixed = (struct ir_fixed){.n = 1,
                                  .multiplier = &multiplier,
                                  .shift = &shift,
                                  .act_min = down ? INT8_MIN : 0,
                                  .act_max = down ? INT8_MAX : UINT8_MAX};
    f->op[f->n++] = op;
}

/* The uint8 form of an input of `op`: made before it if none exists. */
static uint32_t read_as_uint8(struct flips *f, const struct ir_op *op, uint32_t id)
{
    const struct ir_tensor *t = f->g->tensor[id];

    if (f->like[id] != IR_NONE)
        return f->like[id];
    if (t->role == IR_CONST)
        return new_like(f, t);
    for (uint32_t i = 0; i < f->g->n_op; i++)
        if (f->g->op[i]->out[0] == id && is_flip(f->g, f->g->op[i], IR_U8))
            return f->like[id] = f->g->op[i]->in[0];
    const uint32_t made = new_like(f, t);
    add_flip(f, op->row, id, made);
    return made;
}

/* Return true if anything but operators on uint8 patterns (`is`) reads it as int8. */
static bool others_read(const struct flips *f, const bool *is, uint32_t id)
{
    for (uint32_t i = 0; i < f->g->n_op; i++)
        for (uint32_t k = 0; k < f->g->op[i]->n_in; k++)
            if (f->g->op[i]->in[k] == id && !f->g->op[i]->dead && !is[i])
                return true;
    return f->g->tensor[id]->is_output;
}

/* The tensor that `op` writes: the network's own uint8 tensor if a flip makes one of it. */
static void write_uint8(struct flips *f, const bool *is, struct ir_op *op)
{
    const uint32_t id = op->out[0];

    for (uint32_t i = 0; i < f->g->n_op && f->like[id] == IR_NONE; i++)
        if (f->g->op[i]->in[0] == id && is_flip(f->g, f->g->op[i], IR_I8)) {
            f->like[id] = f->g->op[i]->out[0];
            f->g->op[i]->dead = true;
        }
    op->out[0] = f->like[id] == IR_NONE ? new_like(f, f->g->tensor[id]) : f->like[id];
    if (others_read(f, is, id))
        add_flip(f, op->row, op->out[0], id);
}

static void change(struct flips *f, const bool *is, struct ir_op *op)
{
    const struct ir_tensor *y = ir_out(f->g, op, 0);

    for (uint32_t k = 0; k < op->n_in; k++)
        if (op->in[k] != IR_NONE && f->g->tensor[op->in[k]]->type == IR_I8)
            op->in[k] = read_as_uint8(f, op, op->in[k]);
    f->op[f->n++] = op;
    if (y->type != IR_I8)
        return;
    write_uint8(f, is, op);
    op->fixed.act_min += 128;
    op->fixed.act_max += 128;
}

/* Remove flips of inputs that have no reader any more. */
static void drop_unread(struct ir_graph *g)
{
    for (uint32_t i = 0; i < g->n_op; i++)
        if (is_flip(g, g->op[i], IR_U8) && !ir_out(g, g->op[i], 0)->is_output &&
            ir_uses(g, g->op[i]->out[0]) == 0)
            g->op[i]->dead = true;
}

enum status partition_uint8(const struct partition *p, struct ir_graph *g, struct diag *d)
{
    struct flips f = {.p = p, .g = g};
    bool *is = ARENA_ARRAY(g->arena, bool, g->n_op + 1), any = false;
    const uint32_t n = g->n_op, n_tensor = g->n_tensor;
    uint32_t most = 0;

    for (uint32_t i = 0; i < n; i++) {
        is[i] = takes_uint8(&f, g->op[i]);
        any = any || is[i];
        most += 2 + g->op[i]->n_in;
    }
    if (!any)
        return ST_OK;
    f.op = ARENA_ARRAY(g->arena, struct ir_op *, most);
    f.like = ARENA_ARRAY(g->arena, uint32_t, n_tensor + most);
    for (uint32_t i = 0; i < n_tensor + most; i++)
        f.like[i] = IR_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (is[i])
            change(&f, is, g->op[i]);
        else
            f.op[f.n++] = g->op[i];
    g->op = f.op;
    g->n_op = g->cap_op = f.n;
    drop_unread(g);
    return ir_link(g, d);
}
