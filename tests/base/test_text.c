#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static const char *escaped(struct arena *a, const char *before, const char *s, size_t max)
{
    struct text t;

    text_init(&t, a);
    text_add(&t, before);
    text_add_escaped(&t, s, max);
    return t.data;
}

static void text_grows(void **state)
{
    struct arena *a = arena_new(0);
    struct text t;

    (void)state;
    text_init(&t, a);
    assert_null(t.data);
    for (unsigned i = 0; i < 5000; i++)
        text_printf(&t, "%04u ", i);
    text_add_n(&t, "end, and more", 3);
    assert_int_equal(t.length, 5000 * 5 + 3);
    assert_int_equal(strlen(t.data), t.length);
    assert_memory_equal(t.data + 4321 * 5, "4321 4322 ", 10);
    assert_string_equal(t.data + 25000, "end");
    arena_free(a);
}

static void exact_capacity_keeps_the_terminator(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    for (size_t n = 254; n <= 258; n++) {
        struct text t;

        text_init(&t, a);
        for (size_t i = 0; i < n; i++)
            text_add(&t, "x");
        assert_int_equal(strlen(t.data), n);
        assert_true(t.capacity > n);
    }
    arena_free(a);
}

static void escaping_leaves_nothing_that_ends_a_comment_or_string(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    assert_string_equal(escaped(a, "", "conv_1/Relu6;x", 99), "conv_1/Relu6;x");
    assert_string_equal(escaped(a, "", "a*/ b", 99), "a*_ b");
    assert_string_equal(escaped(a, "*", "/ b", 99), "*_ b");
    assert_string_equal(escaped(a, "", "/* x", 99), "/_ x");
    assert_string_equal(escaped(a, "", "a\"b\\c\n\x01", 99), "a'b_c__");
    assert_string_equal(escaped(a, "", "what?\?/", 99), "what?_/");
    assert_string_equal(escaped(a, "", "\xc3\xa9t\xc3\xa9\x7f", 99), "__t___");
    assert_string_equal(escaped(a, "", "", 99), "");
    arena_free(a);
}

static void json_strings_are_safe_in_html(void **state)
{
    struct arena *a = arena_new(0);
    struct text t;

    (void)state;
    text_init(&t, a);
    text_add_json(&t, "a\"\\\n</script>\xc3\xa9\x01");
    text_add_json(&t, "");
    assert_string_equal(t.data, "\"a\\u0022\\u005c\\u000a\\u003c/script>\xc3\xa9\\u0001\"\"\"");
    arena_free(a);
}

static void csv_fields_are_quoted_where_needed(void **state)
{
    struct arena *a = arena_new(0);
    struct text t;

    (void)state;
    text_init(&t, a);
    text_add_csv(&t, "a b;");
    text_add_csv(&t, "one, \"two\"\n");
    assert_string_equal(t.data, "a b;\"one, \"\"two\"\"\n\"");
    arena_free(a);
}

static void hashes_are_fnv1a_and_go_on(void **state)
{
    (void)state;
    assert_int_equal(text_hash(TEXT_HASH, "", 0), 0x811c9dc5);
    assert_int_equal(text_hash(TEXT_HASH, "foobar", 6), 0xbf9cf968); /* Fowler, Noll, Vo */
    assert_int_equal(text_hash(text_hash(TEXT_HASH, "foo", 3), "bar", 3), 0xbf9cf968);
}

static void shell_words_are_quoted_where_needed(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    assert_string_equal(text_shell_word(a, "--hw=/a/b.json"), "--hw=/a/b.json");
    assert_string_equal(text_shell_word(a, ""), "''");
    assert_string_equal(text_shell_word(a, "a b"), "'a b'");
    assert_string_equal(text_shell_word(a, "it's $x"), "'it'\\''s $x'");
    arena_free(a);
}

static void escaping_cuts(void **state)
{
    struct arena *a = arena_new(0);

    (void)state;
    assert_string_equal(escaped(a, "", "abcd", 3), "abc...");
    assert_string_equal(escaped(a, "", "abcd", 4), "abcd");
    assert_string_equal(escaped(a, "", "abcd", 0), "...");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(exact_capacity_keeps_the_terminator),
        cmocka_unit_test(escaping_leaves_nothing_that_ends_a_comment_or_string),
        cmocka_unit_test(escaping_cuts),
        cmocka_unit_test(json_strings_are_safe_in_html),
        cmocka_unit_test(hashes_are_fnv1a_and_go_on),
        cmocka_unit_test(csv_fields_are_quoted_where_needed),
        cmocka_unit_test(shell_words_are_quoted_where_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
