/* func_lstm.c - VECTOR's lstm: one step of an LSTM's cells. in: a command, scratchpad. out:
 * scratchpad. Formula: docs/NUMERICS.md. */
#include "func_lstm.h"
#include "func.h"

static const char *nonsense(const struct hd_func *f, const struct hd_cmd_vector *c)
{
    if (!f->config.lstm)
        return "vector: this configuration has no lstm";
    if (c->rows != 1 || !c->cols || c->channels != FUNC_LSTM_GATES)
        return "vector: lstm has one row of cells of 4 gates";
    if (c->kernel_h != 2 || c->kernel_w != 3 || c->y_start || c->x_start || c->in_h < 2 ||
        c->in_w < c->cols + 2 || c->stride_x > 1)
        return "vector: lstm has a 2 x 3 window inside the image";
    if (c->a_splat || c->b_splat || c->look_up)
        return "vector: lstm splats nothing and looks up nothing";
    if (c->z_a || c->z_b || c->multiplier_b != 1 << 11)
        return "vector: lstm: z_a or z_b not 0, or multiplier_b other than 2^11";
    if (c->act_min != -128 || c->act_max != 127)
        return "vector: lstm: act_min or act_max other than int8's";
    if (c->shift_a < 0 || c->shift_a > 7)
        return "vector: lstm: shift_a outside 0..7";
    if (c->multiplier_a < 1 || c->multiplier_a > 32768)
        return "vector: lstm: multiplier_a outside 1..32768";
    if (!func_shift_ok(c->shift_out))
        return "vector: shift_out outside -31..30";
    return 0;
}

/* Return n bytes of the scratchpad, or NULL. */
static const uint8_t *bytes(struct hd_func *f, uint32_t address, uint32_t n)
{
    if ((uint64_t)address + n <= f->n_bytes[HD_SPACE_SCRATCHPAD])
        return f->space[HD_SPACE_SCRATCHPAD] + address;
    hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, address,
                 "vector: a cell of lstm is outside the scratchpad");
    return NULL;
}

/* Read n bytes of each gate, the lowest first, a_win_col apart from `at` on; -1: outside. */
static int read_gates(struct hd_func *f, const struct hd_cmd_vector *c, uint32_t at, uint32_t n,
                      int32_t gate[FUNC_LSTM_GATES])
{
    for (uint32_t g = 0; g < FUNC_LSTM_GATES; g++)
        gate[g] = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *b = bytes(f, at + k * c->a_win_col, FUNC_LSTM_GATES);

        if (!b)
            return -1;
        for (uint32_t g = 0; g < FUNC_LSTM_GATES; g++)
            gate[g] += (k + 1 < n ? b[g] : (int8_t)b[g]) * (1 << 8 * k);
    }
    return 0;
}

static int run_cell(struct hd_func *f, const struct hd_cmd_vector *c, uint32_t col)
{
    const uint32_t at = (uint32_t)c->a_base + col * c->a_col;
    const uint32_t to[2] = {c->out_base + col, c->out_base + c->out_row + 2 * col};
    const uint8_t *old = bytes(f, c->b_base + col * c->b_col, 2);
    int32_t x[FUNC_LSTM_GATES], h[FUNC_LSTM_GATES];
    int8_t state[2], y;

    if (!old || !bytes(f, to[0], 1) || !bytes(f, to[1], 2) || read_gates(f, c, at, 2, x) ||
        read_gates(f, c, at + c->a_win_row, 3, h))
        return -1;
    y = func_lstm(c, x, h, old, state);
    hd_func_put(f, HD_UNIT_VECTOR, HD_SPACE_SCRATCHPAD, to[1], state, 2);
    hd_func_put(f, HD_UNIT_VECTOR, HD_SPACE_SCRATCHPAD, to[0], &y, 1);
    return 0;
}

int hd_func_lstm(struct hd_func *f, const struct hd_cmd_vector *c)
{
    const char *why = nonsense(f, c);

    if (why)
        return hd_func_stop(f, HD_FAULT_BAD_FIELD, HD_UNIT_VECTOR, 0, why);
    for (uint32_t col = 0; col < c->cols; col++)
        if (run_cell(f, c, col))
            return -1;
    return 0;
}
