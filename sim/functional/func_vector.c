/* func_vector.c - VECTOR: loops over rows, columns, chunks of N channels and window cells. in: a
 * command, scratchpad, tables. out: scratchpad. Formulas: docs/HARDWARE.md, NUMERICS.md. */
#include <stdbool.h>
#include <string.h>

#include "func.h"
#include "func_elementwise.h"
#include "hd_accel_tables.h"

struct vector_job {
    struct hd_func *f;
    const struct hd_cmd_vector *c;
    const struct hd_vop_facts *op;
    uint32_t n; /* lanes of this chunk */
    uint32_t row, col, chunk;
    uint32_t cells; /* window cells inside the image */
};

static int refuse(const struct vector_job *j, uint32_t address, const char *why)
{
    return hd_func_stop(j->f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, address, why);
}

/* Return n bytes of the scratchpad, or NULL; addresses are modulo 2^32. */
static const int8_t *operand(const struct vector_job *j, uint32_t address, uint32_t n)
{
    const uint8_t *spad = j->f->space[HD_SPACE_SCRATCHPAD];

    if ((uint64_t)address + n > j->f->n_bytes[HD_SPACE_SCRATCHPAD]) {
        refuse(j, address, "vector: an operand is outside the scratchpad");
        return NULL;
    }
    return (const int8_t *)spad + address;
}

/* Add a window cell of one chunk, with its first byte at `address`. */
static int cell(const struct vector_job *j, uint32_t address, int32_t *value)
{
    const struct hd_cmd_vector *c = j->c;
    const int32_t zero = j->op->sum && j->op->rescale ? c->z_a : 0;
    const int8_t *a = operand(j, address, c->a_splat ? 1 : j->n);

    if (!a)
        return -1;
    for (uint32_t i = 0; i < j->n; i++)
        if (c->a_splat)
            value[i] = a[0];
        else if (!j->op->extremum)
            value[i] += a[i] - zero;
        else if (a[i] > value[i])
            value[i] = a[i];
    return 0;
}

/* Run the window of one chunk: sums (minus the zero point for sum), maxima, or the one cell of
 * elementwise operations. */
static int window(struct vector_job *j, int32_t *value)
{
    const struct hd_cmd_vector *c = j->c;

    j->cells = 0;
    for (uint32_t i = 0; i < j->n; i++)
        value[i] = j->op->extremum ? -128 : 0;
    for (uint32_t ky = 0; ky < c->kernel_h; ky++) {
        int64_t iy = c->y_start + (int64_t)j->row * c->stride_y + ky;
        for (uint32_t kx = 0; iy >= 0 && iy < (int64_t)c->in_h && kx < c->kernel_w; kx++) {
            int64_t ix = c->x_start + (int64_t)j->col * c->stride_x + kx;
            uint32_t at = (uint32_t)c->a_base + j->row * c->a_row + j->col * c->a_col +
                          ky * c->a_win_row + kx * c->a_win_col + (c->a_splat ? 0 : j->chunk);

            if (ix < 0 || ix >= (int64_t)c->in_w)
                continue;
            if (cell(j, at, value) || (j->op->pair && cell(j, at + c->b_base, value)))
                return -1;
            j->cells++;
        }
    }
    if (j->op->pair && j->cells == 0)
        return refuse(j, 0, "vector: max_pool_two: a window without a cell");
    return 0;
}

/* Return the mean with halves away from zero. The reciprocal is exact for n up to 2048: (|s| + n/2)
 * * n < 2^31. */
static int32_t average(int32_t sum, uint32_t n)
{
    uint32_t size = (uint32_t)(sum < 0 ? -sum : sum);
    uint64_t reciprocal = (((uint64_t)1 << 31) + n - 1) / n;
    int32_t q = (int32_t)((size + n / 2) * reciprocal >> 31);

    return n == 1 ? sum : sum < 0 ? -q : q;
}

/* The address of operand B's bytes for this chunk. */
static uint32_t at_b(const struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    const uint32_t b_chunk = c->b_splat ? 0 : j->chunk;

    return c->b_base + j->row * c->b_row + j->col * c->b_col + b_chunk;
}

static int finish(struct vector_job *j, const int32_t *value, int8_t *out)
{
    const struct hd_cmd_vector *c = j->c;
    const int8_t *b = NULL;

    if (j->op->operands == 2) {
        b = operand(j, at_b(j), c->b_splat ? 1 : j->n);
        if (!b)
            return -1;
    }
    for (uint32_t i = 0; i < j->n; i++) {
        if (b)
            out[i] = func_elementwise(c, (int8_t)value[i], b[c->b_splat ? 0 : i]);
        else if (j->op->rescale)
            out[i] = func_clamp(func_mbqm(value[i], c->multiplier_out, c->shift_out), c->z_out,
                                c->act_min, c->act_max);
        else
            out[i] = func_clamp(j->op->divide && j->cells ? average(value[i], j->cells) : value[i],
                                0, c->act_min, c->act_max);
    }
    return 0;
}

/* Read the numbers of two bytes of a chunk. */
static int numbers(const struct vector_job *j, uint32_t at, uint32_t apart, bool splat, int32_t *x)
{
    const int8_t *upper = operand(j, at, splat ? 1 : j->n),
                 *lower = operand(j, at + apart, splat ? 1 : j->n);

    if (!upper || !lower)
        return -1;
    for (uint32_t i = 0; i < j->n; i++)
        x[i] = 256 * upper[splat ? 0 : i] + lower[splat ? 0 : i] + 128;
    return 0;
}

/* Return curve's result for `a`, between two entries of the memory of exponentials. */
static int32_t curve(const struct vector_job *j, int32_t a)
{
    int32_t rest;
    uint32_t at = func_curve_entry(j->c, a, &rest), entry;

    memcpy(&entry, j->f->space[HD_SPACE_EXP] + (size_t)at * j->f->config.n, sizeof entry);
    return func_curve(j->c, at, entry, rest);
}

/* One half of each result of a chunk. */
static int halves(const struct vector_job *j, int8_t *out)
{
    const struct hd_cmd_vector *c = j->c;
    const uint32_t a =
        (uint32_t)c->a_base + j->row * c->a_row + j->col * c->a_col + (c->a_splat ? 0 : j->chunk);
    int32_t x[HD_FUNC_MAX_N], y[HD_FUNC_MAX_N];

    if (numbers(j, a, c->a_win_row, c->a_splat, x) ||
        (j->op->operands == 2 && numbers(j, at_b(j), c->a_win_col, c->b_splat, y)))
        return -1;
    for (uint32_t i = 0; i < j->n; i++)
        out[i] = func_half(j->op->curve ? curve(j, x[i]) : func_elementwise16(c, x[i], y[i]),
                           c->act_min, c->act_max, c->half == FUNC_HALF_LOWER);
    return 0;
}

static int check_halves(const struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;

    if (!j->f->config.lstm || c->half > FUNC_HALF_LOWER || !j->op->halves)
        return refuse(j, c->half,
                      "vector: halves need the option lstm, and an operation of two bytes");
    if (!func_halves_window(c))
        return refuse(j, c->half, "vector: halves: a window other than 1 x 2, of mul 2 x 2");
    if (c->z_a || c->z_b || c->z_out || c->look_up)
        return refuse(j, c->half, "vector: halves have zero points of 0 and no look_up");
    return 0;
}

static int check(const struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    const int two = j->op->operands == 2, scaled = two && j->op->scale;

    if (c->op >= HD_VOP_COUNT)
        return refuse(j, c->op, "vector: no such operation");
    if (!c->rows || !c->cols || !c->channels || !c->kernel_h || !c->kernel_w)
        return refuse(j, 0, "vector: an empty loop");
    if (c->half && check_halves(j))
        return -1;
    if (two && !c->half && (c->kernel_h != 1 || c->kernel_w != 1))
        return refuse(j, c->kernel_h, "vector: an elementwise operation has a 1 x 1 window");
    if (j->op->divide && (uint32_t)c->kernel_h * c->kernel_w > 2048)
        return refuse(j, c->kernel_w, "vector: an average of more than 2048 cells");
    if (!two && (c->a_splat || c->b_splat))
        return refuse(j, c->op, "vector: only operations with two operands splat a byte");
    if (scaled && (c->shift_a > 0 || c->shift_a < -31 || c->shift_b > 0 || c->shift_b < -31))
        return refuse(j, 0, "vector: shift_a or shift_b outside -31..0");
    if (j->op->square && (c->shift_a > -FUNC_SQUARED_SHIFT || c->shift_b > -FUNC_SQUARED_SHIFT))
        return refuse(j, 0, "vector: squared: shift_a or shift_b outside -31..-13");
    if (j->op->curve && (!c->half || !j->f->config.softmax_rows || c->shift_a < -9 ||
                         c->shift_a > -8 || c->shift_b < -1 || c->shift_b > 0))
        return refuse(j, c->half,
                      "vector: curve has half, shift_a -9 or -8, shift_b -1 or 0; it "
                      "needs the memory of exponentials");
    if (two && j->op->pick && c->half && (c->multiplier_a != 1 << 16 || c->multiplier_b != 1 << 16))
        return refuse(j, 0, "vector: max and min of two bytes: multipliers other than 2^16");
    if (two && j->op->pick && (c->shift_a || c->shift_b))
        return refuse(j, 0, "vector: max and min have no shift_a or shift_b");
    if (j->op->pair && (c->multiplier_a != 1 << 11 || c->multiplier_b != 1 << 11 || c->z_b))
        return refuse(j, 0, "vector: max_pool_two: multipliers other than 2^11, or z_b not 0");
    if (j->op->leak && !func_shift_ok(c->shift_b))
        return refuse(j, 0, "vector: shift_b outside -31..30");
    if (j->op->rescale && !func_shift_ok(c->shift_out))
        return refuse(j, 0, "vector: shift_out outside -31..30");
    return 0;
}

static int run_chunk(struct vector_job *j)
{
    const struct hd_cmd_vector *c = j->c;
    uint32_t at = c->out_base + j->row * c->out_row + j->col * c->out_col + j->chunk;
    int32_t value[HD_FUNC_MAX_N];
    int8_t out[HD_FUNC_MAX_N];

    if (c->half ? halves(j, out) : window(j, value) || finish(j, value, out))
        return -1;
    if (c->look_up)
        hd_func_look_up(j->f, c->table_first + (c->table_step ? j->chunk / j->f->config.n : 0), out,
                        j->n);
    if ((uint64_t)at + j->n > j->f->n_bytes[HD_SPACE_SCRATCHPAD])
        return refuse(j, at, "vector: the output is outside the scratchpad");
    hd_func_put(j->f, HD_UNIT_VECTOR, HD_SPACE_SCRATCHPAD, at, out, j->n);
    return 0;
}

int hd_func_vector(struct hd_func *f, const struct hd_cmd_vector *c)
{
    struct vector_job j = {.f = f, .c = c, .op = &hd_vop_facts[c->op]};

    if (j.op->softmax)
        return hd_func_softmax(f, c);
    if (j.op->lstm)
        return hd_func_lstm(f, c);
    if (check(&j))
        return -1;
    for (j.row = 0; j.row < c->rows; j.row++)
        for (j.col = 0; j.col < c->cols; j.col++)
            for (j.chunk = 0; j.chunk < c->channels; j.chunk += f->config.n) {
                uint32_t left = c->channels - j.chunk;

                j.n = left < f->config.n ? left : f->config.n;
                if (run_chunk(&j))
                    return -1;
            }
    return 0;
}
