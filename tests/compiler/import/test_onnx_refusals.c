/* Networks that the ONNX importer refuses, a line each in onnx_refusals.txt: a small network as
 * text and the message, exit code 3, within 64 MiB and 100 ms of processor time (or ten times what
 * a good network of that size takes here, where that is longer: sanitizers, a loaded machine).
 *
 *     in x f32 1x2x4x4; const w i8 2 1 -1; opset 9; node Op x,w,_ y a=1 b=1,2, c=1.5f d="text" =>
 * message
 *
 * Shapes are `-` for a number, `0` for an empty list; values of a constant repeat their last one;
 * `_` is an absent input; a comma ends a list of one; Op@ms is com.microsoft's, Op@qonnx QONNX's. The last node's
 * outputs are the graph's. A message "accepted" is one too. `-u` prints the file anew. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "compiler/import/onnx/onnx.h"
#include "onnx_builder.h"

#define MAX_WORDS 40

static int32_t type_of(const char *s)
{
    static const struct {
        const char *name;
        int32_t type;
    } types[] = {{"f32", 1}, {"u8", 2},  {"i8", 3},   {"u16", 4},  {"i16", 5},  {"i32", 6},
                 {"i64", 7}, {"str", 8}, {"bool", 9}, {"f16", 10}, {"f64", 11}, {"u64", 13}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, s) == 0)
            return types[i].type;
    fail_msg("unknown type '%s'", s);
    return 0;
}

static uint32_t read_dims(const char *s, int64_t *dim)
{
    uint32_t n = 0;

    if (strcmp(s, "-") == 0)
        return 0;
    for (char *end; *s && n < 8; s = *end ? end + 1 : end)
        dim[n++] = strtoll(s, &end, 10);
    return n;
}

static void store(uint8_t *to, int32_t type, const char *text)
{
    const float f = strtof(text, NULL);
    const double d = strtod(text, NULL);
    const int64_t i = strtoll(text, NULL, 10);

    if (type == 1)
        memcpy(to, &f, 4);
    else if (type == 11)
        memcpy(to, &d, 8);
    else
        memcpy(to, &i,
               type == 7 || type == 13                ? 8
               : type == 6                            ? 4
               : type == 4 || type == 5 || type == 10 ? 2
                                                      : 1);
}

static void add_const(struct builder *b, char **word, int n_word)
{
    const int32_t type = type_of(word[2]);
    const size_t size = type == 7 || type == 11 || type == 13 ? 8
                        : type == 1 || type == 6              ? 4
                        : type < 4 || type == 9               ? 1
                                                              : 2;
    int64_t dim[8], n = 1;
    const uint32_t rank = read_dims(word[3], dim);
    uint8_t *data;

    for (uint32_t i = 0; i < rank; i++)
        n *= dim[i];
    data = arena_alloc(b->a, (size_t)n * size);
    for (int64_t i = 0; i < n; i++)
        store(data + (size_t)i * size, type, word[4 + i < n_word ? 4 + i : n_word - 1]);
    b_const(b, word[1], type, rank, dim, data, (size_t)n * size);
}

/* NAME=1, NAME=1.5f, NAME="text" (also as a list of one), NAME=1,2, or NAME=#f32 (a tensor of one
 * element, 0). */
static void add_attribute(struct builder *b, Onnx__NodeProto *n, char *word)
{
    char *value = strchr(word, '=');
    int64_t list[80];
    uint32_t count = 0;

    assert_non_null(value);
    *value++ = '\0';
    if (*value == '"') {
        Onnx__AttributeProto *t = b_attr(b, n, word);

        t->has_s = 1;
        t->s.data = (uint8_t *)b_text(b, value + 1);
        t->s.len = strlen(value + 1) - 1;
        t->n_strings = 1;
        t->strings = &t->s;
    } else if (*value == '#') {
        Onnx__TensorProto *c = b_const(b, word, type_of(value + 1), 0, NULL, "\0\0\0\0\0\0\0", 8);

        b->graph.n_initializer--;
        c->raw_data.len = type_of(value + 1) == 7 ? 8 : 4;
        b_attr(b, n, word)->t = c;
    } else if (strchr(value, ',')) {
        for (char *s = strtok(value, ","); s; s = strtok(NULL, ","))
            list[count++] = strtoll(s, NULL, 10);
        b_ints(b, n, word, count, list);
    } else if (value[strlen(value) - 1] == 'f') {
        Onnx__AttributeProto *t = b_attr(b, n, word);

        t->has_f = 1;
        t->f = strtof(value, NULL);
    } else {
        b_int(b, n, word, strtoll(value, NULL, 10));
    }
}

static void add_node(struct builder *b, char **word, int n_word)
{
    char *domain = strchr(word[1], '@'), *names = b_text(b, word[3]);
    Onnx__NodeProto *n;

    if (domain)
        *domain = '\0';
    for (char *s = word[2]; *s; s++)
        *s = *s == ',' ? ' ' : *s;
    for (char *s = word[2]; *s; s++)
        if (*s == '_' && (s == word[2] || s[-1] == ' '))
            *s = '-';
    n = b_node(b, word[1], strcmp(word[2], "-") == 0 ? "" : word[2], "");
    if (domain)
        n->domain = b_text(b, domain[1] == 'q' ? "qonnx.custom_op.general" : "com.microsoft");
    n->n_output = 0;
    for (char *s = strtok(names, ","); s; s = strtok(NULL, ","))
        n->output[n->n_output++] = b_text(b, strcmp(s, "_") == 0 ? "" : s);
    for (int i = 4; i < n_word; i++)
        add_attribute(b, n, word[i]);
}

static struct builder *build(struct arena *a, char *text)
{
    struct builder *b = b_new(a, 17);
    const Onnx__NodeProto *last;

    for (char *end, *at = text; at; at = end) {
        char *word[MAX_WORDS];
        int n = 0;

        end = strchr(at, ';');
        if (end)
            *end++ = '\0';
        for (char *save, *s = strtok_r(at, " ", &save); s && n < MAX_WORDS;
             s = strtok_r(NULL, " ", &save))
            word[n++] = s;
        if (n == 2 && strcmp(word[0], "opset") == 0) {
            b->opset[0].version = atoi(word[1]);
        } else if (n == 4 && strcmp(word[0], "in") == 0) {
            int64_t dim[8];
            const uint32_t rank = read_dims(word[3], dim);

            b_input(b, word[1], type_of(word[2]), rank, dim);
        } else if (n >= 4 && strcmp(word[0], "const") == 0) {
            add_const(b, word, n);
        } else if (n >= 4 && strcmp(word[0], "node") == 0) {
            add_node(b, word, n);
        } else {
            fail_msg("'%s': no such words", word[0]);
        }
    }
    last = b->node[b->graph.n_node - 1];
    for (size_t i = 0; i < last->n_output; i++)
        if (*last->output[i]) {
            b_output(b, last->output[i], 1, 0, NULL);
            b->out[b->graph.n_output - 1]->type = NULL;
        }
    return b;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Return the importer's report on network `text`, allocated in `all`; *took: CPU time. */
static const char *verdict(struct arena *all, const char *text, double *took)
{
    struct arena *a = arena_new((size_t)64 << 20);
    const struct onnx_options o = {0};
    struct diag d = {0};
    struct ir_graph *g;
    size_t n;
    const uint8_t *data = b_pack(build(a, arena_strdup(a, text)), &n);
    const double start = seconds();
    const enum status st = onnx_import(a, "net", data, n, &o, &g, &d);
    const char *said = st == ST_OK ? "accepted" : arena_strdup(all, d.text);

    *took = seconds() - start;
    if (st != ST_OK && status_exit_code(st) != 3)
        said = arena_printf(all, "exit %d: %s", status_exit_code(st), said);
    arena_free(a);
    return said;
}

static bool update;

static void test_refusals(void **state)
{
    struct arena *all = arena_new((size_t)64 << 20);
    const char *path =
        arena_printf(all, "%s/tests/compiler/import/onnx_refusals.txt", getenv("HEDDLE_HOME"));
    double good, took;
    struct diag d = {0};
    uint8_t *list;
    char *save;
    size_t n;
    int wrong = 0, count = 0;

    (void)state;
    assert_int_equal(file_read(all, path, 1 << 20, &list, &n, &d), ST_OK);
    list = arena_memdup(all, list, n + 1);
    list[n] = 0;
    assert_string_equal(verdict(all, "in x f32 1x2x4x4; node Relu x y; node Sigmoid y z", &good),
                        "accepted");
    for (char *line = strtok_r((char *)list, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *want = strstr(line, " => ");
        const char *said;

        if (*line == '#') {
            if (update)
                printf("%s\n", line);
            continue;
        }
        if (want) {
            *want = '\0';
            want += 4;
        }
        said = verdict(all, line, &took);
        count++;
        if (update) {
            printf("%s => %s\n", line, said);
            continue;
        }
        if (!want || strcmp(said, want) != 0) {
            print_error("%s: expected '%s', found '%s'\n", line, want ? want : "", said);
            wrong++;
        }
        if (took > 0.1 && took > 10 * good) {
            print_error("%s: %.0f ms, a good network %.1f\n", line, took * 1e3, good * 1e3);
            wrong++;
        }
    }
    if (!update)
        print_message("%d networks\n", count);
    assert_int_equal(wrong, 0);
    arena_free(all);
}

/* Every operator refuses an attribute that the importer does not know. */
static void test_attributes(void **state)
{
    struct arena *a = arena_new((size_t)16 << 20);
    const char *name, *domain;
    uint32_t n = 0;
    double took;

    (void)state;
    for (; (name = onnx_operator_name(n, &domain)) != NULL; n++) {
        const char *text = arena_printf(a, "in x f32 2; node %s%s x y no_such_thing=1", name,
                                        *domain == 'q' ? "@qonnx"
                                        : *domain      ? "@ms"
                                                       : "");
        const char *said = verdict(a, text, &took);

        if (strstr(said, "attribute 'no_such_thing' is not known here: expected ") == NULL)
            fail_msg("%s: found '%s'", text, said);
    }
    assert_in_range(n, 100, 1000);
    arena_free(a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_attributes)};

    update = argc > 1 && strcmp(argv[1], "-u") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
