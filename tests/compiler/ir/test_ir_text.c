/* test_ir_text.c - every .ir file in this folder: name.ir parses, verifies and prints unchanged;
 * name_bad.ir is refused with the text of name_bad.err. */
#include "tests/compiler/ir_files.h"

static void check_bad(struct arena *a, const char *path)
{
    const char *expected = ir_text(a, ir_sibling(a, path, 3, ".err"));
    struct diag d = {0};
    struct ir_graph *g;
    enum status st = ir_parse(a, ir_text(a, path), &g, &d);

    if (st == ST_OK)
        st = ir_verify(g, "parse", &d);
    assert_int_not_equal(st, ST_OK);
    ir_same_text(path, expected, arena_printf(a, "%s\n", d.text));
}

static void check_good(struct arena *a, const char *path)
{
    const char *source = ir_text(a, path);
    struct diag d = {0};
    struct ir_graph *g;
    struct text t;

    if (ir_parse(a, source, &g, &d) != ST_OK || ir_verify(g, "parse", &d) != ST_OK)
        fail_msg("%s: %s", path, d.text);
    text_init(&t, a);
    ir_print(g, &t);
    ir_same_text(path, source, t.data);
}

static void check_file(struct arena *a, const char *path)
{
    if (ir_ends(path, "_bad.ir"))
        check_bad(a, path);
    else
        check_good(a, path);
}

static void test_every_file(void **state)
{
    (void)state;
    ir_each("tests/compiler/ir/*.ir", check_file);
}

/* A good file cut at any place gives an error or a smaller graph, never a crash. */
static void cut_file(struct arena *a, const char *path)
{
    const char *source = ir_text(a, path);

    for (size_t n = 0; n < strlen(source); n += 7) {
        struct arena *scratch = arena_new(0);
        struct diag d = {0};
        struct ir_graph *g;

        if (ir_parse(scratch, arena_strndup(scratch, source, n), &g, &d) == ST_OK)
            (void)ir_verify(g, "parse", &d);
        arena_free(scratch);
    }
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    ir_each("tests/compiler/ir/*.ir", cut_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_cut_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
