/* A trace from times given in this test: a command every ten cycles; the last STORE of a submission
 * reads and writes more than the bus carries in its cycles. Two submissions with the host in
 * between. */
#include "tests/app/net.h"

#include "app/report/run_trace.h"

static const char *const words[] = {"--hw=tiny", "--partition=priority", "--no-search", NULL};

struct fixture {
    struct net *net;
    struct trace *trace;
    uint64_t base[2];       /* cycles in which submissions begin */
    uint64_t read, written; /* in all */
};

static uint32_t last_store(const struct sched_stream *s)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < s->n; i++)
        last = s->cmd[i].unit == HD_UNIT_STORE ? i : last;
    return last;
}

static struct fixture fixture(void)
{
    struct fixture f = {.net = net_open("tests/e2e/numbers/accounts.ir", words)};
    const struct pipeline *p = &f.net->p;
    const struct account *account = account_of(f.net->a, p);
    const uint32_t n = times_first(p->program, p->program->n_stream), width = p->hw.axi_bytes;
    struct trace_time *time = ARENA_ARRAY(f.net->a, struct trace_time, n);

    assert_int_equal(p->program->n_stream, 2);
    for (uint32_t k = 0, at = 0; k < 2; k++) {
        const struct sched_stream *s = &p->program->stream[k];
        const struct trace_moved moved = {12u * width, 11u * width};
        const uint32_t store = last_store(s);
        assert_true(store >= 2);
        for (uint32_t i = 0; i < s->n; i++, at++) {
            time[at] = (struct trace_time){.start = 1 + 10 * i, .done = 10 + 10 * i};
            time[at].at_start = i > store ? moved : (struct trace_moved){0};
            time[at].at_done = i >= store ? moved : (struct trace_moved){0};
        }
        f.read += moved.read;
        f.written += moved.written;
    }
    f.base[1] = 10 * p->program->stream[0].n + account->host_cycles;
    f.trace = trace_build(f.net->a, p, account, time, NULL, NULL);
    assert_int_equal(f.trace->cycles, f.base[1] + 10 * p->program->stream[1].n);
    return f;
}

static void slices_are_where_the_times_are(void **state)
{
    struct fixture f = fixture();
    uint32_t n = 0;

    (void)state;
    for (uint32_t i = 0; i < f.trace->n_slice; i++) {
        const struct trace_slice *s = &f.trace->slice[i];
        if (s->stream == IR_NONE || s->track % HD_UNIT_COUNT == HD_UNIT_FETCH)
            continue;
        assert_int_equal(s->begin, f.base[s->stream] + 10 * s->command);
        assert_int_equal(s->end, f.base[s->stream] + 10 * s->command + 10);
        n++;
    }
    assert_int_equal(n, f.net->p.program->stream[0].n + f.net->p.program->stream[1].n - 2);
    arena_free(f.net->a);
}

/* Return the bytes in total, and check that no value exceeds `most`. */
static double integral(const struct trace_device *d, enum trace_counter counter, double most)
{
    double sum = 0;

    for (uint32_t i = 0; i < d->n_point[counter]; i++) {
        const struct trace_point *p = &d->point[counter][i];
        assert_true(p->value >= 0 && p->value <= most);
        if (i + 1 < d->n_point[counter])
            sum += p->value * (double)(p[1].at - p->at);
        else
            assert_true(p->value < 1e-9);
    }
    return sum;
}

static void the_bus_carries_what_was_moved_and_no_more_than_its_width(void **state)
{
    struct fixture f = fixture();
    const struct trace_device *d = &f.trace->device[0];
    const double width = f.net->p.hw.axi_bytes, read = integral(d, TRACE_READ, width + 1e-6),
                 written = integral(d, TRACE_WRITTEN, width + 1e-6);

    (void)state;
    assert_true(read > (double)f.read - 1e-3 && read < (double)f.read + 1e-3);
    assert_true(written > (double)f.written - 1e-3 && written < (double)f.written + 1e-3);
    assert_int_equal(d->sum[d->n_sum - 1].moved.read, f.read);
    assert_int_equal(d->sum[d->n_sum - 1].moved.written, f.written);
    arena_free(f.net->a);
}

/* The last STORE's operand is in use until the STORE is complete. */
static void words_are_in_use_until_their_last_reader_is_done(void **state)
{
    struct fixture f = fixture();
    const struct trace_device *d = &f.trace->device[0];
    const uint32_t n = d->n_point[TRACE_SCRATCHPAD],
                   store = last_store(&f.net->p.program->stream[1]);

    (void)state;
    assert_true(integral(d, TRACE_SCRATCHPAD, f.net->p.hw.scratchpad_bytes) > 0);
    assert_int_equal(d->point[TRACE_SCRATCHPAD][n - 1].at, f.base[1] + 10 * store + 10);
    arena_free(f.net->a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_where_the_times_are),
        cmocka_unit_test(the_bus_carries_what_was_moved_and_no_more_than_its_width),
        cmocka_unit_test(words_are_in_use_until_their_last_reader_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
