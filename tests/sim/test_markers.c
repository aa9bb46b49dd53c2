/* Markers of a save file: one a layer at its first command, FETCH aside, since open, in the order of time. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "hd_accel.h"
#include "sim/gtkw.h"

static const char *const names[] = {"00_a", "01_b", "02_c", "03_d"};
static const struct hd_sim_command commands[] = {
    {.start = 1, .done = 90, .unit = HD_UNIT_FETCH, .layer = 0},
    {.start = 50, .done = 60, .unit = HD_UNIT_LOAD, .layer = 0},
    {.start = 40, .done = 45, .unit = HD_UNIT_ARRAY, .layer = 1},
    {.start = 55, .done = 70, .unit = HD_UNIT_ARRAY, .layer = 0},
    {.start = 48, .done = 80, .unit = HD_UNIT_STORE, .layer = 1},
    {.start = 20, .done = 0, .unit = HD_UNIT_LOAD, .layer = 2},
};

static uint32_t mark(struct gtkw_marker *m)
{
    uint32_t n = 1;

    m[0] = (struct gtkw_marker){"first wrong byte", 2000};
    gtkw_layers(commands, sizeof commands / sizeof *commands, 1000, names, 4, m, &n);
    return n;
}

static void layers_have_a_marker_at_their_first_command(void **state)
{
    struct gtkw_marker m[6];

    (void)state;
    assert_int_equal(mark(m), 3); /* nothing of layers 2 and 3 was done */
    assert_string_equal(m[0].name, "first wrong byte");
    assert_string_equal(m[1].name, "01_b");
    assert_int_equal(m[1].cycle, 1040);
    assert_string_equal(m[2].name, "00_a");
    assert_int_equal(m[2].cycle, 1050);
}

/* GTKWave counts in nanoseconds, ten a cycle. */
static void the_file_has_them_in_nanoseconds(void **state)
{
    struct arena *a = arena_new(0);
    struct gtkw_marker m[6];
    const uint32_t n = mark(m);
    char path[] = "/tmp/heddle-gtkw-XXXXXX";
    const int fd = mkstemp(path);
    struct diag d = {0};
    uint8_t *text;
    size_t size;

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(gtkw_write(a, path, "x/waves.fst", false, m, n, 1000, 1200, &d), ST_OK);
    assert_int_equal(file_read(a, path, 1 << 20, &text, &size, &d), ST_OK);
    (void)unlink(path);
    assert_non_null(strstr((const char *)text, "[timestart] 10000\n"));
    assert_non_null(strstr((const char *)text, " 10000 20000 10400 10500 -1 -1 "));
    assert_non_null(strstr((const char *)text, "[markername] A"));
    assert_non_null(strstr((const char *)text, "[dumpfile] \"/heddle/waves.fst\"\n"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_have_a_marker_at_their_first_command),
        cmocka_unit_test(the_file_has_them_in_nanoseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
