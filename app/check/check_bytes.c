/* check_bytes.c - inputs of the cases, the reference's answers, and the first byte that differs. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/compare/difference.h"
#include "check_round.h"

/* Print a line, and return it without its word. */
static const char *print(const struct check *c, const char *word, const char *format, va_list args)
{
    char text[4096];

    (void)vsnprintf(text, sizeof text, format, args);
    output_printf(c->o->output, OUTPUT_RESULT, "%-5s%s\n", word, text);
    return arena_strdup(c->arena, text);
}

void check_say(const struct check *c, const char *word, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)print(c, word, format, args);
    va_end(args);
}

void check_pass(const struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)print(c, "ok", format, args);
    va_end(args);
}

void check_fails(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    c->failed = print(c, "FAIL", format, args);
    va_end(args);
    c->n_failed++;
}

/* The greatest and the least value of a type. */
static void ends(enum ir_type type, int32_t end[2])
{
    end[0] = type == IR_I16 ? INT16_MAX : type == IR_U8 ? UINT8_MAX : INT8_MAX;
    end[1] = type == IR_I16 ? INT16_MIN : type == IR_U8 ? 0 : INT8_MIN;
}

/* The case that reads an input of the graph. */
static const struct check_case *reader_of(const struct check *c, uint32_t input)
{
    const struct ir_graph *g = c->p.graph;

    for (uint32_t i = 0; i < g->n_op; i++)
        for (uint32_t k = 0; k < g->op[i]->n_in; k++)
            if (g->op[i]->in[k] == g->in[input])
                return &c->cases.item[g->op[i]->row];
    return NULL;
}

static void fill_quantised(struct check *c, uint32_t input, uint8_t *bytes, uint64_t n)
{
    const enum ir_type type = c->p.graph->tensor[c->p.graph->in[input]]->type;
    const uint32_t size = ir_type_bytes(type);
    const struct check_case *const reader = reader_of(c, input);
    int32_t end[2];

    ends(type, end);
    for (uint64_t k = 0; k < n; k++) {
        bytes[k] = (uint8_t)check_random(&c->cases, 256);
        if (reader && reader->end && k % size == size - 1) /* within 32 of the end */
            bytes[k] =
                (uint8_t)((end[reader->end < 0] >> 8 * (size - 1)) - reader->end * (bytes[k] % 32));
        for (uint32_t i = 0; i < 2; i++) /* little-endian */
            bytes[(i + 1) * n + k] = (uint8_t)((uint32_t)end[i] >> 8 * (k % size));
    }
}

static void fill_real(struct check *c, uint8_t *bytes, uint64_t n)
{
    for (uint64_t k = 0; k < n; k += sizeof(float)) {
        const float v[INFERENCES] = {check_random_real(&c->cases), 1, -1};
        for (uint64_t i = 0; i < INFERENCES; i++)
            memcpy(bytes + i * n + k, &v[i], sizeof v[i]);
    }
}

void check_fill(struct check *c)
{
    const struct ir_graph *g = c->p.graph;

    c->in = ARENA_ARRAY(c->arena, struct run_data, g->n_in + 1);
    for (uint32_t i = 0; i < g->n_in; i++) {
        uint64_t n = ir_bytes(g->tensor[g->in[i]]);
        uint8_t *bytes = arena_alloc(c->arena, n * INFERENCES);
        if (g->tensor[g->in[i]]->type == IR_F32)
            fill_real(c, bytes, n);
        else
            fill_quantised(c, i, bytes, n);
        c->in[i] = (struct run_data){bytes, n};
    }
}

enum status check_reference(struct check *c, struct diag *d)
{
    const struct ir_graph *g = c->p.reference;
    const struct ref_options options = {0};
    struct ref *r = ref_new(c->arena, g, &options);
    const uint8_t **in = ARENA_ARRAY(c->arena, const uint8_t *, g->n_in + 1);
    uint8_t **out = ARENA_ARRAY(c->arena, uint8_t *, g->n_out + 1);

    c->want = ARENA_ARRAY(c->arena, struct run_data, g->n_out + 1);
    for (uint32_t i = 0; i < g->n_out; i++) {
        uint64_t n = ir_bytes(g->tensor[g->out[i]]);
        c->want[i] = (struct run_data){arena_alloc(c->arena, n * INFERENCES), n};
    }
    for (uint32_t k = 0; k < c->inferences; k++) {
        for (uint32_t i = 0; i < g->n_in; i++)
            in[i] = c->in[i].bytes + k * c->in[i].n_bytes;
        for (uint32_t i = 0; i < g->n_out; i++)
            out[i] = c->want[i].bytes + k * c->want[i].n_bytes;
        TRY(ref_run(r, in, out, d));
    }
    return ST_OK;
}

const char *check_where(const struct check *c)
{
    return *c->setting ? arena_printf(c->arena, " with %s", c->setting) : "";
}

static const char *input_words(const struct check *c, uint32_t i, uint32_t inference)
{
    const enum ir_type type = c->cases.item[i].dtype;
    int32_t end[2] = {1, -1};

    if (type != IR_F32)
        ends(type, end);
    return inference % c->inferences == 0
               ? "random"
               : arena_printf(c->arena, "all %d", end[inference % c->inferences - 1]);
}

/* Find the first byte of one inference's output that differs from the reference's. False: all
 * are equal. */
static bool wrong_byte(struct check *c, uint32_t i, uint32_t k, const uint8_t *got, const char *how,
                       bool loud)
{
    const struct ir_tensor *t = c->p.graph->tensor[c->p.graph->out[i]];
    const uint8_t *want = c->want[i].bytes + k % c->inferences * c->want[i].n_bytes;
    const uint32_t size = ir_type_bytes(t->type);
    uint64_t at = 0, n = c->want[i].n_bytes / size;

    while (at < n && memcmp(got + at * size, want + at * size, size) == 0)
        at++;
    if (at < n && loud)
        check_fails(
            c, "%s%s: %s: %s %llu of %llu: expected %.9g, found %.9g (inputs: %s)%s", how,
            check_where(c), c->cases.item[i].words, size == 1 ? "byte" : "value",
            (unsigned long long)at, (unsigned long long)n, ir_element(t, want, at),
            ir_element(t, got, at), input_words(c, i, k),
            got[at * size] == 0x5a && got[at * size + size - 1] == 0x5a
                ? size == 1 ? "; outputs were filled with 90 before: this byte may be unwritten"
                            : "; outputs were filled with 0x5a before: this value may be unwritten"
                : "");
    return at < n;
}

/* Find the first such value where the pattern's arithmetic may differ. */
static bool too_far(struct check *c, uint32_t i, uint32_t k, const uint8_t *got, const char *how,
                    bool loud)
{
    const struct ir_tensor *t = c->p.graph->tensor[c->p.graph->out[i]];
    const uint8_t *want = c->want[i].bytes + k % c->inferences * c->want[i].n_bytes;
    double most = c->cases.item[i].tolerance, apart = run_difference(t, want, got);

    if (apart > most * (1 + 1e-9) && loud)
        check_fails(c,
                    "%s%s: %s: %.3g of the output's range from the reference, expected at most "
                    "%.3g, the pattern's tolerance (inputs: %s)",
                    how, check_where(c), c->cases.item[i].words, apart, most, input_words(c, i, k));
    c->apart = apart > c->apart ? apart : c->apart;
    return apart > most * (1 + 1e-9);
}

void check_compare(struct check *c, const struct run_data *got, uint32_t n, const char *how)
{
    uint32_t bad = 0, n_out = c->p.graph->n_out;

    c->apart = 0;
    for (uint32_t i = 0; i < n_out; i++) {
        bool wrong = false;
        for (uint32_t k = 0; k < n && !wrong; k++) {
            const uint8_t *bytes = got[i].bytes + k * got[i].n_bytes;
            wrong = c->cases.item[i].tolerance > 0 ? too_far(c, i, k, bytes, how, bad == 0)
                                                   : wrong_byte(c, i, k, bytes, how, bad == 0);
        }
        bad += wrong;
    }
    if (bad)
        output_printf(c->o->output, OUTPUT_RESULT, "     %u of %u operators differ\n", bad, n_out);
    else if (c->apart > 0)
        check_pass(
            c,
            "%s%s: %u operators, %u inferences each, at most %.3g of the range from the reference",
            how, check_where(c), n_out, n, c->apart);
    else
        check_pass(c, "%s%s: %u operators, %u inferences each, equal to the reference", how,
                   check_where(c), n_out, n);
}
