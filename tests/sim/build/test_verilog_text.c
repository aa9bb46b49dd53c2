/* test_verilog_text.c - which changes of the Verilog leave the model as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/build/verilog_text.h"

static void expect(const char *text, const char *want, bool lines)
{
    struct arena *a = arena_new(0);
    size_t n;
    const char *found = verilog_reduced(a, text, strlen(text), lines, &n);

    assert_string_equal(found, want);
    assert_int_equal(n, strlen(want));
    arena_free(a);
}

static void comments_and_blanks(void **state)
{
    (void)state;
    expect("wire  a ; // says\n\n\n  assign a/**/=b;\n", "wire a ;\nassign a =b;", false);
    expect("// first\nwire a;", "\nwire a;", false);
    expect("a /* b\n c */ d", "a\nd", false);
    expect("a / b /", "a / b /", false);
    expect("", "", false);
    expect("a // no end", "a", false);
    expect("a /* no end", "a", false);
    expect("a /*/ b */ c", "a c", false);
}

static void lines_are_kept(void **state)
{
    (void)state;
    expect("a\n// b\n\n  c /* d\n\n */ e\n", "a\n\n\nc\n\ne", true);
}

static void tools_comments_are_kept(void **state)
{
    (void)state;
    expect("a // verilator lint_off WIDTH\nb", "a // verilator lint_off WIDTH\nb", false);
    expect("a /*verilator public*/;", "a /*verilator public*/;", false);
    expect("// synthesis translate_off\nx", "// synthesis translate_off\nx", false);
    expect("`define M a \\\n  b // c \\\n  d\n", "`define M a \\\nb // c \\\nd", false);
}

static void strings_and_names_are_kept(void **state)
{
    (void)state;
    expect("$display(\"a  // b\\\" /* c\"); // d", "$display(\"a  // b\\\" /* c\");", false);
    expect("wire \\a//b ;", "wire \\a//b ;", false);
    expect("\"open\n// c\nd\"", "\"open\nd\"", false);
    expect("a = \"end", "a = \"end", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_blanks),
        cmocka_unit_test(lines_are_kept),
        cmocka_unit_test(tools_comments_are_kept),
        cmocka_unit_test(strings_and_names_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
