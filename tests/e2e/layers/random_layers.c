/* random_layers.c - random layers through the accelerator, against the reference, byte by byte.
 *
 *     random_layers --hw sys16 --engine func,shuffle --count 1000 --seed 1
 *
 * Layer i has seed `seed` + i and follows from it alone, together with the configuration: a failure
 * prints the command line that repeats just that layer. Engines:
 *   func     the functional model
 *   shuffle  the functional model, commands in another order that their waits allow
 *   rtl      the Verilated model; with func, each command must write the same bytes in both
 * Exit status 0: all equal; 1: a difference or a fault; 2: usage; 77: nothing to run (skipped). */
#define _GNU_SOURCE
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/home.h"
#include "layer_run.h"

enum { MAX_REASONS = 256, MAX_SHOWN = 5, MAX_IR = 8000 };

struct reason {
    char *text;
    uint32_t n;
};

struct bench {
    const char *hw, *keep, *write;
    bool func, shuffle, rtl, vary, fixed_memory, checked, disturb, quiet;
    uint32_t count;
    uint64_t seed;
    struct hd_config config;
    struct sim_model so;
    uint32_t n_run, n_refused, n_unplaced, n_wrong;
    uint64_t cycles;
    struct reason reason[MAX_REASONS];
    uint32_t n_reason;
};

static const struct argp_option table[] = {
    {"hw", 'w', "NAME|FILE", 0, "configuration (default sys16)", 0},
    {"engine", 'e', "LIST", 0, "of func, shuffle, rtl (default func,shuffle)", 0},
    {"count", 'n', "N", 0, "layers (default 200)", 0},
    {"seed", 's', "N", 0, "of the first layer (default 1)", 0},
    {"vary-hw", 'v', NULL, 0, "other memory sizes and ports for every layer; not with rtl", 0},
    {"fixed-memory", 'f', NULL, 0, "shared memory of latency 64 without stalls, interrupt", 0},
    {"checked", 'c', NULL, 0, "rtl with its assertions", 0},
    {"disturb", 'd', NULL, 0,
     "before each layer a job on the same device, register writes and doorbells while it is busy, "
     "a "
     "reset",
     0},
    {"keep", 'k', "DIR", 0, "write failing layers there as .ir", 0},
    {"write", 'W', "DIR", 0, "only write the layers there as .ir", 0},
    {"quiet", 'q', NULL, 0, "no text of failing layers", 0},
    {0}};

static bool engines(struct bench *b, char *list)
{
    b->func = b->shuffle = b->rtl = false;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
        if (strcmp(word, "func") == 0)
            b->func = true;
        else if (strcmp(word, "shuffle") == 0)
            b->shuffle = true;
        else if (strcmp(word, "rtl") == 0)
            b->rtl = true;
        else
            return false;
    return true;
}

static error_t option(int key, char *arg, struct argp_state *state)
{
    struct bench *b = state->input;

    switch (key) {
    case 'w': b->hw = arg; return 0;
    case 'e':
        if (!engines(b, arg))
            argp_error(state, "--engine: expected func, shuffle, rtl");
        return 0;
    case 'n': b->count = (uint32_t)strtoul(arg, NULL, 0); return 0;
    case 's': b->seed = strtoull(arg, NULL, 0); return 0;
    case 'v': b->vary = true; return 0;
    case 'f': b->fixed_memory = true; return 0;
    case 'c': b->checked = true; return 0;
    case 'd': b->disturb = true; return 0;
    case 'k': b->keep = arg; return 0;
    case 'W': b->write = arg; return 0;
    case 'q': b->quiet = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Vary the sizes within the checks of hw/gen/config.c; the hash stays, which the functional model
 * does not check. */
static void vary(struct hd_config *hw, struct layers_rng *r)
{
    uint32_t n = hw->n;

    hw->scratchpad_bytes = 8 * n * (1u << layers_range(r, 4, 10));
    if (hw->scratchpad_bytes < 2048)
        hw->scratchpad_bytes = 2048;
    hw->weight_bytes = n * n * (uint32_t)(1 + layers_range(r, 1, 24));
    hw->acc_depth = 1u << layers_range(r, 5, 10);
    hw->param_entries = 1u << layers_range(r, 3, 7);
    hw->ports = (uint32_t)layers_range(r, 1, 4);
}

static void set_up(const struct bench *b, uint64_t seed, struct layer_setup *s)
{
    struct layers_rng r = {seed ^ 0x1234567};

    *s = (struct layer_setup){.seed = seed, .hw = b->config, .disturb = b->disturb};
    s->options.mem_latency = 64;
    if (!b->fixed_memory) {
        s->options.mem_latency = (uint32_t)layers_range(&r, 1, 200);
        s->options.mem_bytes = layers_chance(&r, 80) ? 0 : 1u << layers_range(&r, 2, 3);
        s->options.stall_seed = layers_chance(&r, 70) ? layers_next(&r) | 1 : 0;
        s->options.separate_memory = layers_chance(&r, 25);
        s->options.poll = layers_chance(&r, 25);
        s->options.no_overlap = layers_chance(&r, 4);
    }
    if (b->vary)
        vary(&s->hw, &r);
}

static void count_reason(struct bench *b, const char *text)
{
    char shape[256];
    size_t n = 0;

    for (; *text && n + 1 < sizeof shape; text++) /* numbers differ between layers */
        if (!(*text >= '0' && *text <= '9'))
            shape[n++] = *text;
        else if (n == 0 || shape[n - 1] != '#')
            shape[n++] = '#';
    shape[n] = '\0';
    for (uint32_t i = 0; i < b->n_reason; i++)
        if (strcmp(b->reason[i].text, shape) == 0) {
            b->reason[i].n++;
            return;
        }
    if (b->n_reason < MAX_REASONS)
        b->reason[b->n_reason++] = (struct reason){strdup(shape), 1};
}

/* "<dir>/layer_<seed>.ir". */
static enum status write_ir(struct arena *a, const char *dir, const struct layer_setup *s,
                            struct text *t, struct diag *d)
{
    text_init(t, a);
    ir_print(layers_make(a, s->seed, &s->hw), t);
    if (!dir)
        return ST_OK;
    TRY(file_make_dirs(dir, d));
    return file_write(arena_printf(a, "%s/layer_%llu.ir", dir, (unsigned long long)s->seed),
                      t->data, t->length, d);
}

/* Print the layer as text: enough to identify it, all of it if it is short. */
static void show(const struct bench *b, struct arena *a, const struct layer_setup *s)
{
    struct text t;
    struct diag d = {0};

    if (write_ir(a, b->keep, s, &t, &d) != ST_OK)
        printf("%s\n", d.text);
    if (b->vary)
        printf(
            "  {\"name\": \"vary\", \"n\": %u, \"scratchpad_bytes\": %u, \"banks\": %u, "
            "\"ports\": %u, "
            "\"weight_bytes\": %u, \"acc_depth\": %u, \"param_entries\": %u, \"softmax_rows\": %u, "
            "\"axi_bytes\": %u, "
            "\"axi_addr_bits\": %u, \"read_bursts\": %u}\n",
            s->hw.n, s->hw.scratchpad_bytes, s->hw.banks, s->hw.ports, s->hw.weight_bytes,
            s->hw.acc_depth, s->hw.param_entries, s->hw.softmax_rows, s->hw.axi_bytes,
            s->hw.axi_addr_bits, s->hw.read_bursts);
    if (t.length <= MAX_IR)
        fputs(t.data, stdout);
    for (char *line = strtok(t.data, "\n"); line && t.length > MAX_IR; line = strtok(NULL, "\n"))
        if (*line != ' ') /* bytes of data */
            printf("%.200s%s\n", line, strlen(line) > 200 ? " ..." : "");
}

static void failed(struct bench *b, struct arena *a, const struct layer_setup *s,
                   const char *engine, const char *why)
{
    if (b->n_wrong++ >= MAX_SHOWN && !b->quiet)
        return;
    printf("FAIL layer %llu on %s, %s: %s\n", (unsigned long long)s->seed, engine, b->hw, why);
    printf("  again: random_layers --hw %s --engine %s --count 1 --seed %llu%s%s%s\n", b->hw,
           engine, (unsigned long long)s->seed, b->vary ? " --vary-hw" : "",
           b->fixed_memory ? " --fixed-memory" : "", b->disturb ? " --disturb" : "");
    if (!b->quiet)
        show(b, a, s);
    fflush(stdout);
}

/* log: the functional model's commits, NULL if they are not compared. */
static enum status run_rtl(struct bench *b, struct arena *a, const struct layer *l,
                           const struct commit_log *log, struct diag *d)
{
    struct commit_log own = {.arena = a};
    const struct layer_watch watch = {commit_log_sink, commit_log_submission, &own};
    struct commit_place place;
    struct layer_result r;
    struct text t;

    TRY(layer_execute(l, ENGINE_RTL, &b->so, false, log ? &watch : NULL, &r, d));
    b->cycles += r.cycles;
    if (r.ok && !(log && commit_log_first(log, &own, &place)))
        return ST_OK;
    text_init(&t, a);
    text_add(&t, r.ok ? "outputs are equal, a command's writes are not" : r.text);
    text_add(&t, "\n  ");
    TRY(layer_part(l, &b->so, &t, d));
    failed(b, a, l->setup, "rtl", t.data);
    return ST_OK;
}

static enum status run_engines(struct bench *b, struct arena *a, const struct layer *l,
                               struct diag *d)
{
    /* Commands before a disturbed layer belong to no submission of it. */
    const bool logs = b->func && b->rtl && !b->disturb;
    struct commit_log log = {.arena = a};
    const struct layer_watch watch = {commit_log_sink, commit_log_submission, &log};
    struct layer_result r;

    for (uint32_t k = 0; k < 2; k++) {
        if (!(k ? b->shuffle : b->func))
            continue;
        TRY(layer_execute(l, ENGINE_FUNC, NULL, k == 1, logs && k == 0 ? &watch : NULL, &r, d));
        if (!r.ok)
            failed(b, a, l->setup, k ? "shuffle" : "func", r.text);
    }
    return b->rtl ? run_rtl(b, a, l, logs ? &log : NULL, d) : ST_OK;
}

static void run_layer(struct bench *b, struct arena *a, const struct layer_setup *s)
{
    struct layer l;
    struct diag d = {0};
    uint32_t wrong = b->n_wrong;
    enum status st = layer_compile(a, s, &l, &d);

    if (st == ST_NO_SPACE && (l.graph->n_op > 1 || b->vary)) {
        b->n_unplaced++;
        count_reason(b, d.text);
    } else if (st != ST_OK) {
        failed(b, a, s, "func", d.text);
    } else if (l.refused) {
        b->n_refused++;
        count_reason(b, l.refused);
    } else if (run_engines(b, a, &l, &d) != ST_OK) {
        failed(b, a, s, b->rtl ? "rtl" : "func", d.text);
    }
    b->n_run += !l.refused && st == ST_OK && b->n_wrong == wrong;
}

static void one_layer(struct bench *b, uint64_t seed)
{
    struct arena *a = arena_new(0);
    struct layer_setup s;
    struct text t;
    struct diag d = {0};

    set_up(b, seed, &s);
    if (!b->write)
        run_layer(b, a, &s);
    else if (write_ir(a, b->write, &s, &t, &d) != ST_OK)
        failed(b, a, &s, "none", d.text);
    arena_free(a);
}

static enum status open_bench(struct bench *b, struct arena *a, struct diag *d)
{
    struct sim_paths paths = {.checked = b->checked};

    TRY(pipeline_config(a, b->hw, &b->config, d));
    if (!b->rtl)
        return ST_OK;
    TRY(home_find(a, &paths.home, d));
    TRY(home_cache(a, &paths.cache, d));
    return sim_build(a, &paths, &b->config, &b->so, d);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const struct bench *b, double seconds)
{
    printf("random_layers %s: seeds %llu to %llu, %u equal on%s%s%s, %u refused, %u not placed, %u "
           "wrong; %.0f layers/s",
           b->hw, (unsigned long long)b->seed, (unsigned long long)(b->seed + b->count - 1),
           b->n_run, b->func ? " func" : "", b->shuffle ? " shuffle" : "", b->rtl ? " rtl" : "",
           b->n_refused, b->n_unplaced, b->n_wrong, b->count / seconds);
    if (b->rtl)
        printf(", %llu cycles, %.2f M cycles/s", (unsigned long long)b->cycles,
               (double)b->cycles / seconds / 1e6);
    printf("\n");
    for (uint32_t i = 0; i < b->n_reason; i++)
        printf("  %5u  %s\n", b->reason[i].n, b->reason[i].text);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {table, option, NULL, "Random layers, all engines equal.",
                                     NULL,  NULL,   NULL};
    static struct bench b = {.hw = "sys16", .func = true, .shuffle = true, .count = 200, .seed = 1};
    struct arena *a = arena_new(0);
    struct diag d = {0};

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &b);
    b.vary = b.vary && !b.rtl;
    if (open_bench(&b, a, &d) != ST_OK) {
        printf("%s\n", d.text);
        return status_exit_code(d.status);
    }
    double start = now();
    for (uint32_t i = 0; i < b.count; i++)
        one_layer(&b, b.seed + i);
    report(&b, now() - start);
    arena_free(a);
    return b.n_wrong > 0;
}
