/* test_options.c - every row of the option table: values at both ends of its range, words, values
 * that are refused, and the commands that use it. A refused option changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "app/options/options.h"
#include "app/options/options_table.h"

struct fixture {
    struct arena *arena;
    struct options options;
    struct option_set set;
    struct diag d;
};

static int set_up(void **state)
{
    struct arena *a = arena_new(0);
    struct fixture *f = ARENA_NEW(a, struct fixture);

    f->arena = a;
    *state = f;
    return options_init(&f->set, a, &f->options, &f->d) == ST_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static void refuses(struct fixture *f, const char *name, const char *value, const char *text)
{
    const uint32_t n = f->set.n_given;

    f->d = (struct diag){0};
    assert_int_equal(options_set(&f->set, name, value, &f->d), ST_USAGE);
    if (!strstr(f->d.text, text))
        fail_msg("--%s=%s: expected '%s' in '%s'", name, value ? value : "", text, f->d.text);
    assert_int_equal(f->set.n_given, n);
}

static void accepts(struct fixture *f, const char *name, const char *value)
{
    if (options_set(&f->set, name, value, &f->d) != ST_OK)
        fail_msg("--%s=%s: %s", name, value ? value : "", f->d.text);
}

static void names_letters_and_dashes_are_one_option(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(f->options.engine, ENGINE_RTL);
    accepts(f, "engine", "func");
    assert_int_equal(f->options.engine, ENGINE_FUNC);
    accepts(f, "--engine", "ref");
    assert_int_equal(f->options.engine, ENGINE_REF);
    assert_int_equal(f->set.n_given, 1);
    accepts(f, "-i", "a.bin");
    accepts(f, "input", "b.bin");
    assert_int_equal(f->options.n_input, 2);
    assert_string_equal(f->options.input[1], "b.bin");
    assert_int_equal(options_unset(&f->set, "i", &f->d), ST_OK);
    assert_int_equal(options_unset(&f->set, "engine", &f->d), ST_OK);
    assert_int_equal(f->options.n_input, 0);
    assert_int_equal(f->options.engine, ENGINE_RTL);
}

static void unknown_names_are_refused(void **state)
{
    struct fixture *f = *state;

    refuses(f, "engin", "rtl", "unknown option '--engin'; did you mean --engine?");
    refuses(f, "qqqqqqqq", "1", "unknown option '--qqqqqqqq'; heddle --help lists them");
    refuses(f, "-_", "1", "unknown option '-_'");
    assert_int_equal(options_unset(&f->set, "engin", &f->d), ST_USAGE);
}

/* The largest and smallest numbers are accepted, their neighbours are not. */
static void numbers(struct fixture *f, const struct option_row *r)
{
    const unsigned long long least = r->least, most = r->most;
    const char *expected = arena_printf(f->arena, "from %llu to %llu", least, most);

    accepts(f, r->shown.name, arena_printf(f->arena, "%llu", least));
    accepts(f, r->shown.name, arena_printf(f->arena, "%llu", most));
    if (least > 0)
        refuses(f, r->shown.name, arena_printf(f->arena, "%llu", least - 1), expected);
    if (most < UINT64_MAX)
        refuses(f, r->shown.name, arena_printf(f->arena, "%llu", most + 1), expected);
    refuses(f, r->shown.name, "12monkeys", expected);
    refuses(f, r->shown.name, "-1", expected);
}

static void every_row_takes_its_values_alone(void **state)
{
    struct fixture *f = *state;
    uint32_t n_words = 0, n_numbers = 0;

    for (const struct option_row *r = options_table; r->shown.name; r++) {
        if (r->kind != OPTION_FLAG)
            refuses(f, r->shown.name, NULL,
                    arena_printf(f->arena, "--%s: expected a value", r->shown.name));
        for (uint32_t i = 0; r->kind == OPTION_WORD && r->shown.words[i]; i++, n_words++)
            accepts(f, r->shown.name, r->shown.words[i]);
        if (r->kind == OPTION_WORD)
            refuses(f, r->shown.name, "no-such-word", "no-such-word");
        if (r->kind == OPTION_NUMBER)
            numbers(f, r);
        n_numbers += r->kind == OPTION_NUMBER;
        if (r->kind == OPTION_FLAG)
            accepts(f, r->shown.name, NULL);
        assert_int_equal(options_unset(&f->set, r->shown.name, &f->d), ST_OK);
        assert_int_equal(f->set.n_given, 0);
    }
    assert_true(n_words > 40 && n_numbers > 10);
}

static void a_refused_value_changes_nothing(void **state)
{
    struct fixture *f = *state;

    accepts(f, "seed", "7");
    refuses(f, "seed", "seven", "seven");
    assert_int_equal(f->options.seed, 7);
    refuses(f, "engine", "fast", "fast");
    assert_int_equal(f->options.engine, ENGINE_RTL);
}

/* options_check accepts an option for exactly the commands of its row. */
static void commands_use_their_options(void **state)
{
    struct fixture *f = *state;

    for (uint32_t c = 0; c < COMMAND_COUNT; c++) {
        assert_int_equal(options_command(&f->options, options_commands[c], &f->d), ST_OK);
        for (const struct option_row *r = options_table; r->shown.name; r++) {
            const bool used = (r->used_by & OPTION_OF(c)) != 0;

            if (r->kind != OPTION_FLAG)
                continue;
            accepts(f, r->shown.name, NULL);
            f->options.command = (enum options_command)c; /* the defaults have run's */
            f->d = (struct diag){0};
            assert_int_equal(options_check(&f->set, &f->d), used ? ST_OK : ST_USAGE);
            assert_int_equal(options_used(r->shown.name, options_commands[c]), used);
            if (!used)
                assert_non_null(strstr(f->d.text, r->shown.name));
            assert_int_equal(options_unset(&f->set, r->shown.name, &f->d), ST_OK);
        }
    }
    f->d = (struct diag){0};
    assert_int_equal(options_command(&f->options, "rum", &f->d), ST_USAGE);
    assert_string_equal(f->d.text, "command: found 'rum'; did you mean run?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_letters_and_dashes_are_one_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_names_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_row_takes_its_values_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_value_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(commands_use_their_options, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
