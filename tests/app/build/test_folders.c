/* test_folders.c - folders of headers and libraries as options of a C compiler, of a target and of a package. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/build/folders.h"
#include "app/build/object.h"
#include "base/file.h"

static const char *joined(struct arena *a, const char *const *flags)
{
    const char *all = "";

    for (; *flags; flags++)
        all = arena_printf(a, "%s%s%s", all, *all ? " " : "", *flags);
    return all;
}

static void variables_are_replaced(void **state)
{
    struct arena *a = arena_new(0);
    static const char *const include[] = {"$HEDDLE_TEST_FOLDER", "/"}, *const library[] = {"/"},
                             *const lost[] = {"/no/such"}, *const unset[] = {"$HEDDLE_TEST_UNSET"};
    struct run_folders f = {2, 1, include, library};
    const char *const *flags;
    struct diag d = {0};

    (void)state;
    setenv("HEDDLE_TEST_FOLDER", "/", 1);
    unsetenv("HEDDLE_TEST_UNSET");
    assert_int_equal(run_folders(a, &f, &flags, &d), ST_OK);
    assert_string_equal(joined(a, flags), "-I/ -I/ -L/ -Wl,-rpath,/");
    f = (struct run_folders){0, 1, NULL, lost};
    assert_int_equal(run_folders(a, &f, &flags, &d), ST_USAGE);
    assert_string_equal(d.text, "library_dirs: '/no/such': folder '/no/such' not found");
    d = (struct diag){0};
    f = (struct run_folders){1, 0, unset, NULL};
    assert_int_equal(run_folders(a, &f, &flags, &d), ST_USAGE);
    assert_non_null(strstr(d.text, "include_dirs: '$HEDDLE_TEST_UNSET': "));
    arena_free(a);
}

/* A package has its lists in files, one name per line; a missing file is an empty list. */
static void a_package_has_lists(void **state)
{
    struct arena *a = arena_new(0);
    char folder[] = "/tmp/heddle-folders-XXXXXX";
    const char *const *folders, *const *libraries;
    struct diag d = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(run_package_flags(a, folder, &folders, &libraries, &d), ST_OK);
    assert_string_equal(joined(a, folders), "");
    assert_string_equal(joined(a, libraries), "");
    const char *const names = arena_printf(a, "%s/libraries.txt", folder),
                      *const dirs = arena_printf(a, "%s/include_dirs.txt", folder);
    assert_int_equal(file_write(names, "one\n\ntwo", 8, &d), ST_OK);
    assert_int_equal(file_write(dirs, "/\n", 2, &d), ST_OK);
    assert_int_equal(run_package_flags(a, folder, &folders, &libraries, &d), ST_OK);
    assert_string_equal(joined(a, folders), "-I/");
    assert_string_equal(joined(a, libraries), "one two");
    unlink(names);
    unlink(dirs);
    rmdir(folder);
    arena_free(a);
}

static void a_configuration_is_macros(void **state)
{
    struct arena *a = arena_new(0);
    const struct hd_config hw = {
        .n = 4, .rows = 4, .columns = 4, .ports = 1, .scratchpad_bytes = 4096, .hash = 0xabc};
    const char *const all = joined(a, run_config_flags(a, &hw));

    (void)state;
    assert_non_null(strstr(
        all, "-DHD_N=4 -DHD_ROWS=4 -DHD_COLUMNS=4 -DHD_PORTS=1 -DHD_SCRATCHPAD_BYTES=4096 "));
    assert_non_null(strstr(all, "-DHD_CONFIG_HASH=0x00000abcu"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables_are_replaced),
                                       cmocka_unit_test(a_package_has_lists),
                                       cmocka_unit_test(a_configuration_is_macros)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
