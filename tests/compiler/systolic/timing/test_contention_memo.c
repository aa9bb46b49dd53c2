/* contention_memo.c: random ARRAY commands one after another, with VECTOR and STORE commands in
 * parallel, simulated with a memo and without one. Argument: a seed, otherwise the time's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compiler/systolic/timing/contention_memo.h"
#include "compiler/systolic/timing/cost.h"

enum { COMMANDS = 4, TURNS = 12, ROUNDS = 3000, CHANGES = 30 };

static const struct hd_config hw = {
    .n = 16, .rows = 16, .columns = 16, .banks = 8, .scratchpad_bytes = 131072};
static uint64_t seed;

/* xorshift64*, Vigna 2016. */
static uint32_t draw(uint32_t least, uint32_t most)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return least + (uint32_t)((seed * 0x2545f4914f6cdd1du >> 33) % (most - least + 1));
}

static struct hd_cmd_array draw_array(void)
{
    const uint32_t rows = draw(1, 4), wide = draw(1, 14);

    return (struct hd_cmd_array){
        .kernel_h = draw(1, 3) & 0xffu,
        .kernel_row_bytes = draw(1, 70) & 0xffffu,
        .ports = draw(1, 4) & 7u,
        .streams = draw(1, 2) & 3u,
        .pair_step = 16,
        .blocks = draw(1, 3) & 0xffffu,
        .block_rows = rows & 0xffffu,
        .last_rows = draw(1, rows) & 0xffffu,
        .block_scan = rows * wide & 0xffffu,
        .last_scan = rows * wide & 0xffffu,
        .scan = wide & 0xffffu,
        .out_h = rows & 0xffffu,
        .out_w = wide & 0xffffu,
        .out_channels = draw(1, 40) & 0xffffu,
        .x_step = draw(1, 40) & 0xffffu,
        .in_wc = draw(64, 600),
        .in_h = draw(2, 9) & 0xffffu,
        .in_pitch_step = 640,
        .in_pitch_dil = 640,
        .in_row = (int32_t)draw(0, 4000),
        .stride_y = 1,
        .dilation_y = 1,
        .stride_x = 1,
    };
}

static struct sched_command draw_work(void)
{
    struct sched_command c = {.unit = draw(0, 1) ? HD_UNIT_VECTOR : HD_UNIT_STORE};

    if (c.unit == HD_UNIT_STORE) {
        c.w.store = (struct hd_cmd_store){.src = draw(0, 900) & 0xffffffu,
                                          .src_pitch = draw(1, 40) & 0xffffu,
                                          .rows = draw(1, 30) & 0xffffu,
                                          .row_bytes = draw(1, 300)};
        c.cost = cost_words(c.w.store.rows, c.w.store.row_bytes, &hw) + draw(0, 50);
        return c;
    }
    c.w.vector = (struct hd_cmd_vector){.op = (draw(0, 3) ? HD_VOP_ADD : HD_VOP_SOFTMAX) & 0xfu,
                                        .kernel_h = 1,
                                        .kernel_w = 1,
                                        .rows = draw(1, 30) & 0xffffu,
                                        .cols = 1,
                                        .channels = draw(1, 200),
                                        .a_base = (int32_t)draw(0, 9999),
                                        .a_row = 208,
                                        .b_base = draw(0, 9999),
                                        .b_row = 208,
                                        .in_h = 1,
                                        .in_w = 1};
    c.cost = cost_vector(&c.w.vector, &hw);
    return c;
}

/* One round, equal in both of its runs. */
struct round {
    struct hd_cmd_array array[COMMANDS];
    struct sched_command work[COMMANDS];
    uint32_t which[TURNS], with[TURNS], length[TURNS], gap[TURNS];
};

static void draw_turn(struct round *r, uint32_t i)
{
    r->which[i] = draw(0, COMMANDS - 1);
    r->with[i] = draw(0, COMMANDS - 1);
    r->length[i] = draw(0, 3) ? draw(20, 600) : draw(1, 20);
    r->gap[i] = draw(0, 2) ? 0 : draw(1, 60);
}

static void draw_round(struct round *r)
{
    for (uint32_t i = 0; i < COMMANDS; i++) {
        r->array[i] = draw_array();
        r->work[i] = draw_work();
    }
    for (uint32_t i = 0; i < TURNS; i++)
        draw_turn(r, i);
}

/* Change one thing, as a search does. */
static void change_round(struct round *r)
{
    const uint32_t i = draw(0, TURNS - 1), k = draw(0, COMMANDS - 1);

    switch (draw(0, 5)) {
    case 0: r->array[k] = draw_array(); break;
    case 1: r->work[k] = draw_work(); break;
    case 2: r->array[k].in_row += 16; break;
    case 3: r->gap[i]++; break;
    case 4: r->length[i] += draw(1, 3); break;
    default: draw_turn(r, i);
    }
}

/* Run the round from cycle `from` on; `since` and `left` of each turn's work go to the arrays. */
static void run(const struct round *r, struct contention_memo *memo, uint64_t from, uint64_t *since,
                double *left)
{
    struct contention_trace t = {.rough = true, .memo = memo};
    struct contention_array a = {0};
    struct contention_work w = {0};

    for (uint32_t i = 0; i < TURNS; i++) {
        const struct hd_cmd_array *before = a.command;
        const uint64_t end = a.from + a.cycles;
        a = (struct contention_array){.command = &r->array[r->which[i]],
                                      .from = from + r->gap[i],
                                      .cycles = r->length[i],
                                      .before = before,
                                      .before_end = end,
                                      .before_steps = a.cycles};
        from = a.from + a.cycles;
        contention_turn(&t, a.from);
        if (!w.command || w.left < 1)
            w = (struct contention_work){.command = &r->work[r->with[i]],
                                         .since = a.from,
                                         .left = (double)r->work[r->with[i]].cost - 1,
                                         .cost = (double)r->work[r->with[i]].cost};
        struct contention_work alone = w; /* as if ARRAY began nothing more */
        contention_run(&t, &alone, &a, UINT64_MAX, &hw);
        contention_run(&t, &w, &a, from, &hw);
        since[2 * i] = w.since;
        left[2 * i] = w.left;
        since[2 * i + 1] = alone.since;
        left[2 * i + 1] = alone.left;
    }
}

static void a_memo_changes_nothing(void **state)
{
    struct arena *a = arena_new(0);
    struct contention_memo *memo = contention_memo_new(a);
    static struct round r;

    (void)state;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t plain[2 * TURNS], found[2 * TURNS];
        double plain_left[2 * TURNS], found_left[2 * TURNS];

        if (i % CHANGES)
            change_round(&r);
        else
            draw_round(&r);
        run(&r, NULL, 1000, plain, plain_left);
        run(&r, memo, 1000 + i, found, found_left);
        for (uint32_t k = 0; k < 2 * TURNS; k++) {
            assert_int_equal(found[k] - i, plain[k]);
            assert_true(found_left[k] == plain_left[k]);
        }
    }
    contention_memo_free(memo);
    arena_free(a);
}

/* The second of two equal races is found, at other cycles too; an ARRAY command that reads elsewhere
 * makes another race. */
static void equal_races_are_found(void **state)
{
    struct arena *arena = arena_new(0);
    struct contention_trace t = {.rough = true, .memo = contention_memo_new(arena)};
    struct hd_cmd_array command = draw_array(), other = command;
    struct sched_command work = draw_work();
    struct contention_at at;

    (void)state;
    other.in_row += 16;
    for (uint64_t from = 100; from < 3000; from += 700) {
        struct contention_array a = {.command = &command, .from = from, .cycles = 300};
        struct contention_work w = {.command = &work,
                                    .since = from,
                                    .left = (double)work.cost - 1,
                                    .cost = (double)work.cost};
        contention_turn(&t, from);
        if (from > 100) {
            a.command = &other;
            assert_true(contention_at(&t, &w, &a, from + 200, &hw, &at));
            assert_false(contention_recall(&t, &w, &a, &at));
            a.command = &command;
        }
        assert_true(contention_at(&t, &w, &a, from + 200, &hw, &at));
        assert_int_equal(contention_recall(&t, &w, &a, &at), from > 100);
        if (from == 100) {
            contention_run(&t, &w, &a, from + 200, &hw);
            assert_true(w.since > from);
        }
    }
    contention_memo_free(t.memo);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memo_changes_nothing),
        cmocka_unit_test(equal_races_are_found),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL) | 1;
    printf("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
