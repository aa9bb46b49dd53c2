/* vector.c - VECTOR over terms: elementwise operations, windows, softmax. */
#include <string.h>

#include "hd_accel_tables.h"
#include "package.h"
#include "sim/functional/func_elementwise.h"

struct vector_job {
    struct prove_device *v;
    const struct hd_cmd_vector *c;
    const struct hd_vop_facts *op;
    const int8_t *table; /* of two operands */
    uint32_t row, col, chunk;
    uint32_t *cell; /* terms of a window, of one lane */
    struct prove_opaque curve;
};

/* All 65,536 results of a command's operation; what wraps is the device's own wrap. */
static const int8_t *results(struct prove_device *v, const struct hd_cmd_vector *c)
{
    const struct prove_key key = {{10, c->op, c->z_a, c->z_b, c->z_out,
                                   c->act_min * 65536 + c->act_max, c->shift_a * 65536 + c->shift_b,
                                   c->shift_out, c->multiplier_a, c->multiplier_b,
                                   c->multiplier_out}};
    void **slot = prove_memo(v->package->p, &key);

    if (!*slot) {
        int8_t *t = arena_alloc(v->package->p->arena, 65536);

        for (int32_t a = -128; a < 128; a++)
            for (int32_t b = -128; b < 128; b++)
                t[(a + 128) * 256 + b + 128] = func_elementwise(c, a, b);
        *slot = t;
    }
    return *slot;
}

/* The term at a scratchpad address modulo 2^32; PROVE_NOTHING after a fault. */
static uint32_t operand(const struct vector_job *j, uint32_t at)
{
    if (at >= j->v->scratchpad.n) {
        (void)prove_fault(j->v, "an operand outside the scratchpad");
        return PROVE_NOTHING;
    }
    prove_order_read(j->v, HD_SPACE_SCRATCHPAD, at, 1);
    return prove_at(j->v->package->p, &j->v->scratchpad, at);
}

/* The cells of a window inside the image, for one lane; -1 after a fault. */
static int window(const struct vector_job *j, uint32_t lane, uint32_t *n)
{
    const struct hd_cmd_vector *c = j->c;

    *n = 0;
    for (uint32_t ky = 0; ky < c->kernel_h; ky++)
        for (uint32_t kx = 0; kx < c->kernel_w; kx++) {
            const int64_t iy = c->y_start + (int64_t)j->row * c->stride_y + ky,
                          ix = c->x_start + (int64_t)j->col * c->stride_x + kx;
            const uint32_t at = (uint32_t)c->a_base + j->row * c->a_row + j->col * c->a_col +
                                ky * c->a_win_row + kx * c->a_win_col +
                                (c->a_splat ? 0 : j->chunk + lane);

            if (iy < 0 || iy >= (int64_t)c->in_h || ix < 0 || ix >= (int64_t)c->in_w)
                continue;
            for (uint32_t second = 0; second < (j->op->pair ? 2 : 1); second++)
                if ((j->cell[(*n)++] = operand(j, at + second * c->b_base)) == PROVE_NOTHING)
                    return -1;
        }
    return 0;
}

/* The integer at an upper byte and the lower one, less 128, `apart` after it. */
static int number(const struct vector_job *j, uint32_t upper, uint32_t apart, prove_uwide *x)
{
    const uint32_t high = operand(j, upper), low = operand(j, upper + apart);

    if (high == PROVE_NOTHING || low == PROVE_NOTHING)
        return -1;
    *x = prove_i16(j->v->package->p, (const uint32_t[2]){prove_flip(j->v->package->p, low), high});
    return 0;
}

/* The function of a command of halves. */
static struct prove_opaque rule_of(const struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    const int32_t low = c->act_min * 256, high = c->act_max * 256 + 255;

    if (j->op->curve)
        return j->curve;
    if (j->op->pick)
        return (struct prove_opaque){j->op->least ? PROVE_SMALLEST_16 : PROVE_LARGEST_16, {0}, {0}};
    if (j->op->multiply)
        return (struct prove_opaque){
            PROVE_MUL_16, {c->multiplier_out, c->shift_out, low, high}, {0}};
    return (struct prove_opaque){j->op->subtract ? PROVE_SUB_16 : PROVE_ADD_16,
                                 {c->multiplier_a, c->multiplier_b, c->multiplier_out, c->shift_a,
                                  c->shift_b, c->shift_out, low, high},
                                 {0}};
}

/* One half of the result of a lane: int16's ADD, SUB, MUL or curve. */
static uint32_t half(const struct vector_job *j, uint32_t lane)
{
    const struct hd_cmd_vector *c = j->c;
    const uint32_t at = j->chunk + lane;
    struct prove *p = j->v->package->p;
    struct prove_opaque q = rule_of(j);
    uint32_t y[2];

    if (number(j,
               (uint32_t)c->a_base + j->row * c->a_row + j->col * c->a_col + (c->a_splat ? 0 : at),
               c->a_win_row, &q.of[0]) ||
        (j->op->operands == 2 &&
         number(j, c->b_base + j->row * c->b_row + j->col * c->b_col + (c->b_splat ? 0 : at),
                c->a_win_col, &q.of[1])))
        return PROVE_NOTHING;
    if (j->op->curve)
        prove_tabled16(p, &q, y);
    else
        prove_pair16(p, &q, c->act_min * 256, c->act_max * 256 + 255, y);
    return c->half == FUNC_HALF_LOWER ? prove_flip(p, y[0]) : y[1];
}

static uint32_t clamped(struct prove *p, const struct hd_cmd_vector *c, uint32_t t)
{
    int8_t table[256];

    for (int32_t v = -128; v < 128; v++)
        table[v + 128] = func_clamp(v, 0, c->act_min, c->act_max);
    return prove_table(p, table, t);
}

/* The result of one lane, or PROVE_NOTHING after a fault. */
static uint32_t result(const struct vector_job *j, uint32_t lane)
{
    const struct hd_cmd_vector *c = j->c;
    struct prove *p = j->v->package->p;
    struct prove_sum sum = {0};
    uint32_t n;

    if (c->half)
        return half(j, lane);
    if (window(j, lane, &n))
        return PROVE_NOTHING;
    if (j->op->operands == 2) {
        const uint32_t b = operand(j, c->b_base + j->row * c->b_row + j->col * c->b_col +
                                          (c->b_splat ? 0 : j->chunk + lane));
        if (b == PROVE_NOTHING)
            return PROVE_NOTHING;
        return prove_pair(p, j->table, n ? j->cell[0] : prove_constant(0), b);
    }
    if (j->op->extremum)
        return n == 0 ? clamped(p, c, prove_constant(-128))
                      : clamped(p, c, prove_extremum(p, PROVE_GREATEST, j->cell, n));
    for (uint32_t i = 0; i < n; i++)
        prove_add(&sum, p, j->cell[i], j->op->rescale ? -c->z_a : 0, 1);
    if (j->op->rescale)
        return prove_requantise(p, &sum, c->multiplier_out, c->shift_out, c->z_out, c->act_min,
                                c->act_max);
    if (!j->op->divide)
        return prove_unknown(p, "an operation of VECTOR without a rule");
    return n == 0 ? clamped(p, c, prove_constant(0))
                  : prove_average(p, &sum, n, false, c->act_min, c->act_max);
}

static const char *halves_nonsense(const struct hd_cmd_vector *c, const struct hd_vop_facts *op)
{
    if (op->pick && (c->multiplier_a != 1 << 16 || c->multiplier_b != 1 << 16 || c->shift_a ||
                     c->shift_b || c->multiplier_out != 1 << 30 || c->shift_out != 1 ||
                     c->act_min != INT8_MIN || c->act_max != INT8_MAX))
        return "the larger one of two numbers, scaled or clamped";
    if (!op->halves || c->half > FUNC_HALF_LOWER || c->z_a || c->z_b || c->z_out || c->look_up)
        return "halves of another operation, with a zero point or a table";
    if (!func_halves_window(c))
        return "halves with a window other than 1 x 2 or 2 x 2";
    if (op->scale && (c->shift_a > 0 || c->shift_a < -31 || c->shift_b > 0 || c->shift_b < -31))
        return "shift_a or shift_b outside -31..0";
    return func_shift_ok(c->shift_out) ? NULL : "shift_out outside -31..30";
}

static const char *nonsense(const struct hd_cmd_vector *c, const struct hd_vop_facts *op)
{
    const bool two = op->operands == 2;

    if (!c->rows || !c->cols || !c->channels || !c->kernel_h || !c->kernel_w)
        return "an empty loop";
    if (c->half)
        return halves_nonsense(c, op);
    if (op->curve)
        return "a curve of one byte";
    if (two && (c->kernel_h != 1 || c->kernel_w != 1))
        return "an elementwise operation with a window";
    if (op->divide && (uint32_t)c->kernel_h * c->kernel_w > 2048)
        return "an average of more than 2048 cells";
    if (!two && (c->a_splat || c->b_splat))
        return "a splat byte of one operand";
    if (two && op->scale &&
        (c->shift_a > 0 || c->shift_a < -31 || c->shift_b > 0 || c->shift_b < -31))
        return "shift_a or shift_b outside -31..0";
    if (op->square && (c->shift_a > -FUNC_SQUARED_SHIFT || c->shift_b > -FUNC_SQUARED_SHIFT))
        return "shift_a or shift_b outside -31..-13";
    if (two && op->pick && (c->shift_a || c->shift_b))
        return "max and min have no shift_a or shift_b";
    if (op->pair && (c->multiplier_a != 1 << 11 || c->multiplier_b != 1 << 11 || c->z_b))
        return "max_pool_two: multipliers other than 2^11, or z_b not 0";
    if (op->leak && !func_shift_ok(c->shift_b))
        return "shift_b outside -31..30";
    if (op->rescale && !func_shift_ok(c->shift_out))
        return "shift_out outside -31..30";
    return NULL;
}

static int run_chunk(struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    const uint32_t at = c->out_base + j->row * c->out_row + j->col * c->out_col + j->chunk,
                   left = c->channels - j->chunk, n = j->v->config.n, m = left < n ? left : n;
    uint32_t out[64];

    if ((uint64_t)at + m > j->v->scratchpad.n)
        return prove_fault(j->v, "an output outside the scratchpad");
    for (uint32_t i = 0; i < m; i++) {
        out[i] = result(j, i);
        if (out[i] == PROVE_NOTHING)
            return -1;
        if (c->look_up)
            out[i] =
                prove_look_up(j->v, c->table_first + (c->table_step ? j->chunk / n : 0), i, out[i]);
    }
    prove_order_write(j->v, HD_SPACE_SCRATCHPAD, at, m);
    memcpy(j->v->scratchpad.term + at, out, m * sizeof *out);
    return j->v->package->fault ? -1 : 0;
}

/* Return true if VECTOR computes cells as the functional model states. */
static bool makes_cells(const struct prove_device *v, const struct hd_cmd_vector *c)
{
    return v->config.lstm && c->rows == 1 && c->cols && c->channels == PROVE_GATES &&
           c->kernel_h == 2 && c->kernel_w == PROVE_H_BYTES && !c->y_start && !c->x_start &&
           c->in_h >= 2 && c->in_w >= c->cols + 2u && c->stride_x <= 1 && !c->a_splat &&
           !c->b_splat && !c->look_up && !c->z_a && !c->z_b && c->multiplier_b == 1 << 11 &&
           c->act_min == -128 && c->act_max == 127 && c->shift_a >= 0 && c->shift_a <= 7 &&
           c->multiplier_a >= 1 && c->multiplier_a <= 32768;
}

/* Set the terms of n bytes of the scratchpad from `at` on. */
static int read_bytes(struct prove_device *v, uint32_t at, uint32_t n, uint32_t *t)
{
    if ((uint64_t)at + n > v->scratchpad.n)
        return prove_fault(v, "a cell of an LSTM outside the scratchpad");
    for (uint32_t i = 0; i < n; i++)
        t[i] = prove_at(v->package->p, &v->scratchpad, at + i);
    prove_order_read(v, HD_SPACE_SCRATCHPAD, at, n);
    return 0;
}

static int lstm_cell(struct prove_device *v, const struct hd_cmd_vector *c, uint32_t i)
{
    const uint32_t x = (uint32_t)c->a_base + i * c->a_col, h = x + c->a_win_row,
                   out = c->out_base + i, state = c->out_base + c->out_row + 2 * i;
    struct prove_cell cell = {.shift = c->shift_a,
                              .bound = c->multiplier_a,
                              .out = {c->multiplier_out, c->shift_out, c->z_out}};
    uint32_t y[3];

    for (uint32_t b = 0; b < PROVE_X_BYTES; b++)
        if (read_bytes(v, x + b * c->a_win_col, PROVE_GATES, cell.x[b]))
            return -1;
    for (uint32_t b = 0; b < PROVE_H_BYTES; b++)
        if (read_bytes(v, h + b * c->a_win_col, PROVE_GATES, cell.h[b]))
            return -1;
    if (read_bytes(v, c->b_base + i * c->b_col, 2, cell.state))
        return -1;
    if (out >= v->scratchpad.n || (uint64_t)state + 2 > v->scratchpad.n)
        return prove_fault(v, "an output outside the scratchpad");
    prove_cell(v->package->p, &cell, y);
    v->scratchpad.term[state] = y[1];
    v->scratchpad.term[state + 1] = y[2];
    v->scratchpad.term[out] = y[0];
    prove_order_write(v, HD_SPACE_SCRATCHPAD, out, 1);
    prove_order_write(v, HD_SPACE_SCRATCHPAD, state, 2);
    return v->package->fault ? -1 : 0;
}

static int lstm(struct prove_device *v, const struct hd_cmd_vector *c)
{
    if (!makes_cells(v, c))
        return prove_fault(v, "an LSTM that the unit does not compute");
    for (uint32_t i = 0; i < c->cols; i++)
        if (lstm_cell(v, c, i))
            return -1;
    return 0;
}

/* Set the function of a curve: its results for all codes, by the memory of exponentials; -1 after a fault. */
static int make_curve(struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    struct prove *p = j->v->package->p;
    int16_t *table = ARENA_ARRAY(p->arena, int16_t, PROVE_CODES_16);
    uint32_t entry[FUNC_CURVE_ENTRIES];

    if (c->shift_a < -9 || c->shift_a > -8 || c->shift_b < -1 || c->shift_b > 0)
        return prove_fault(j->v, "curve: shift_a or shift_b");
    for (uint32_t i = 0; i < FUNC_CURVE_ENTRIES; i++) {
        const uint8_t *b = prove_parameter(j->v, HD_SPACE_EXP, i * j->v->config.n, 4);

        if (!b)
            return -1;
        memcpy(&entry[i], b, 4);
    }
    for (int32_t i = 0; i < PROVE_CODES_16; i++) {
        int32_t rest;
        const uint32_t at = func_curve_entry(c, i - PROVE_CODES_16 / 2, &rest);
        const int32_t t = func_curve(c, at, entry[at], rest);

        table[i] = (int16_t)(256 * func_half(t, c->act_min, c->act_max, false) +
                             func_half(t, c->act_min, c->act_max, true) + 128);
    }
    prove_table16(p, table, &j->curve);
    return 0;
}

int prove_vector(struct prove_device *v, const struct hd_cmd_vector *c)
{
    struct vector_job j = {.v = v, .c = c};

    if (c->op >= HD_VOP_COUNT)
        return prove_fault(v, "no such operation");
    j.op = &hd_vop_facts[c->op];
    if (j.op->softmax)
        return prove_device_softmax(v, c);
    if (j.op->lstm)
        return lstm(v, c);
    const char *why = nonsense(c, j.op);
    if (why)
        return prove_fault(v, why);
    if (c->half && !v->config.lstm)
        return prove_fault(v, "halves without the option lstm");
    if (j.op->curve && make_curve(&j))
        return -1;
    if (j.op->operands == 2 && !c->half)
        j.table = results(v, c);
    j.cell = ARENA_ARRAY(v->package->p->arena, uint32_t, (size_t)c->kernel_h * c->kernel_w * 2 + 1);
    for (j.row = 0; j.row < c->rows; j.row++)
        for (j.col = 0; j.col < c->cols; j.col++)
            for (j.chunk = 0; j.chunk < c->channels; j.chunk += v->config.n)
                if (run_chunk(&j))
                    return -1;
    return 0;
}

/* --- softmax --- */

static int softmax_row(struct prove_device *v, const struct hd_cmd_vector *c, const int32_t *e,
                       uint32_t from, uint32_t to)
{
    struct prove *p = v->package->p;
    uint32_t *x = ARENA_ARRAY(p->arena, uint32_t, c->channels);

    if ((uint64_t)from + c->channels > v->scratchpad.n ||
        (uint64_t)to + c->channels > v->scratchpad.n)
        return prove_fault(v, "an operand or result outside the scratchpad");
    if (from != to && from < to + c->channels && to < from + c->channels)
        return prove_fault(v, "a row of a softmax that its results overwrite");
    for (uint32_t i = 0; i < c->channels; i++)
        x[i] = prove_at(p, &v->scratchpad, from + i);
    prove_order_read(v, HD_SPACE_SCRATCHPAD, from, c->channels);
    prove_order_write(v, HD_SPACE_SCRATCHPAD, to, c->channels);
    prove_softmax(p, e, x, c->channels, v->scratchpad.term + to);
    return 0;
}

int prove_device_softmax(struct prove_device *v, const struct hd_cmd_vector *c)
{
    int32_t e[256];

    if (!c->rows || !c->cols || !c->channels || c->channels > 4096 || c->kernel_h != 1 ||
        c->kernel_w != 1 || c->y_start || c->x_start || c->a_splat || c->b_splat ||
        (uint32_t)c->rows * c->cols > v->config.softmax_rows)
        return prove_fault(v, "a softmax that the unit does not compute");
    if (c->z_out != -128 || c->act_min != -128 || c->act_max != 127)
        return prove_fault(v, "a softmax of another scale");
    for (uint32_t i = 0; i < 256; i++) {
        const uint8_t *b = prove_parameter(v, HD_SPACE_EXP, i * v->config.n, 4);

        if (!b)
            return -1;
        memcpy(&e[i], b, 4);
    }
    for (uint32_t row = 0; row < c->rows; row++)
        for (uint32_t col = 0; col < c->cols; col++)
            if (softmax_row(v, c, e, (uint32_t)c->a_base + row * c->a_row + col * c->a_col,
                            c->out_base + row * c->out_row + col * c->out_col))
                return -1;
    return 0;
}
