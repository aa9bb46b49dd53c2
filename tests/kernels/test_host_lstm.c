/* LSTM on the host against gemmlowp's own form (tests/kernels/lstm_model.h): every gate and every state,
 * every scale of the state; products of x and of h by plain loops. */
#include "kernels/hdk.h"
#include "tests/driver/plain.h"
#include "tests/kernels/lstm_model.h"

enum { CELLS = 300, MOST_IN = 9, PARTS = 3 }; /* more cells than the kernel keeps near */

static int8_t w[4 * CELLS * MOST_IN * PARTS], r[4 * CELLS * CELLS * PARTS], x[MOST_IN], h[CELLS],
    before[CELLS], y[CELLS];
static int32_t bias[8 * CELLS], multiplier[9];
static int8_t shift[9];
static int16_t c[CELLS], old[CELLS];

static struct hdk_lstm one_step(uint32_t in_c, uint32_t cells, int32_t bits)
{
    for (uint32_t i = 0; i < 9; i++) { /* sums as they are */
        multiplier[i] = 1 << 30;
        shift[i] = i < 8 ? 1 : -21;
    }
    return (struct hdk_lstm){.batch = 1,
                             .steps = 1,
                             .in_c = in_c,
                             .cells = cells,
                             .x_parts = 1,
                             .h_parts = 1,
                             .cell_bits = bits,
                             .z_out = 5,
                             .w = w,
                             .r = r,
                             .bias = bias,
                             .scale = {.multiplier = multiplier, .shift = shift}};
}

static int64_t sum(const int8_t *row, const int8_t *v, uint32_t n, int32_t start)
{
    int64_t s = start;

    for (uint32_t i = 0; i < n; i++)
        s += row[i] * v[i];
    return s;
}

static void check(const struct hdk_lstm *p)
{
    memcpy(before, h, sizeof h);
    memcpy(old, c, sizeof c);
    for (uint32_t j = 0; p->reset && j < p->cells; j++) {
        before[j] = (int8_t)p->z_out;
        old[j] = 0;
    }
    hdk_lstm(p, x, h, c, y);
    for (uint32_t j = 0; j < p->cells; j++) {
        int64_t gate[4], cell = old[j], code;

        for (uint32_t g = 0; g < 4; g++) {
            const uint32_t row = g * p->cells + j;
            int64_t of_x = bias[row], of_h = bias[4 * p->cells + row];

            for (uint32_t k = 0; k < p->x_parts; k++)
                of_x += sum(w + ((size_t)row * p->x_parts + k) * p->in_c, x, p->in_c, 0);
            for (uint32_t k = 0; k < p->h_parts; k++)
                of_h += sum(r + ((size_t)row * p->h_parts + k) * p->cells, before, p->cells, 0);

            gate[g] = lstm_saturated(lstm_saturated(of_x) + of_h);
        }
        code = lstm_cell(gate, p->cell_bits, p->clip ? p->clip : 32768, &cell);
        code = lstm_rounded(code, 22) + p->z_out;
        assert_int_equal(c[j], cell);
        assert_int_equal(y[j], code < -128 ? -128 : code > 127 ? 127 : code);
        assert_int_equal(h[j], y[j]);
    }
}

static void every_gate_and_state(void **state)
{
    (void)state;
    memset(w, 0, sizeof w);
    memset(r, 0, sizeof r);
    for (int32_t v = -32768; v < 32768; v += CELLS)
        for (int32_t k = 0; k < 2; k++) {
            const struct hdk_lstm p = one_step(1, CELLS, (v / CELLS & 7) + 2);

            for (int32_t i = 0; i < CELLS; i++) {
                for (int32_t g = 0; g < 4; g++)
                    bias[g * CELLS + i] = k == 0 ? v + i : g == 0 ? -32768 : 32767;
                c[i] = (int16_t)(k == 0 ? (int16_t)random_u32() : v + i > 32767 ? 32767 : v + i);
            }
            check(&p);
        }
}

static void products_of_any_length(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 60; k++) {
        const uint32_t cells = k % 20 == 0 ? CELLS : random_in(1, 20);
        struct hdk_lstm p = one_step(random_in(1, MOST_IN), cells, 4);

        random_bytes(w, sizeof w);
        random_bytes(r, sizeof r);
        random_bytes(x, sizeof x);
        random_bytes(h, sizeof h);
        random_bytes(c, sizeof c);
        for (uint32_t i = 0; i < 8 * cells; i++)
            bias[i] = random_int(-20000, 20000);
        p.reset = random_in(0, 1);
        p.x_parts = random_in(1, PARTS);
        p.h_parts = random_in(1, PARTS);
        p.clip = k % 2 ? random_int(1, 20000) : 0;
        check(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gate_and_state),
        cmocka_unit_test(products_of_any_length),
    };

    return cmocka_run_group_tests(tests, random_seed, NULL);
}
