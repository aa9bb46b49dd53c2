/* store.c: trials are found again by the key under which they were added, and by no other. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "app/tune/store.h"

enum { OPS = 3 };
static const char *const layer[OPS] = {"00_a", "01_b", "02_c"};
static struct tune_attr lanes = {1, 0, "mine", "lanes", 2, 9};
static const struct sched_knobs most[OPS] = {
    {.tile_rows = 100000, .cascade = 1}, {.group_tiles = 4}, {.group_tiles = 4}};
static const struct knob_shape shape = {OPS, layer, most, {1, &lanes}};
static const struct tune_key key = {"graph", "hardware", "schedule"};

struct fixture {
    struct arena *arena;
    char path[64];
    struct diag d;
    struct store *s;
    int64_t id;
};

static void open_store(struct fixture *f, enum store_mode mode)
{
    if (store_open(f->arena, f->path, mode, &f->s, &f->d) != ST_OK)
        fail_msg("%s", f->d.text);
}

static struct fixture make(void)
{
    struct fixture f = {.arena = arena_new(0)};

    strcpy(f.path, "/tmp/heddle_store_XXXXXX");
    close(mkstemp(f.path)); /* an empty file is a database without trials */
    open_store(&f, STORE_WRITE);
    assert_int_equal(store_make(f.s, &key, "net", "tiny", &f.id, &f.d), ST_OK);
    return f;
}

static void drop(struct fixture *f)
{
    store_close(f->s);
    unlink(f->path);
    arena_free(f->arena);
}

static void add(struct fixture *f, uint32_t number, uint64_t cycles, uint32_t rows)
{
    struct sched_knobs knobs[OPS] = {{.tile_rows = rows, .cascade = 1}, {0}, {.group_tiles = 4}};
    int64_t value[] = {2 + rows % 8};
    struct store_trial t = {number, cycles + 5, cycles, knobs, value};

    if (store_add(f->s, f->id, &t, &shape, &f->d) != ST_OK)
        fail_msg("%s", f->d.text);
}

static void what_is_added_is_read_back(void **state)
{
    (void)state;
    struct fixture f = make();
    struct store_trial *t;
    uint32_t n;
    int64_t id;
    add(&f, 4, 900, 7); /* not in the order of their numbers */
    add(&f, 0, 1000, 2);
    store_close(f.s);
    open_store(&f, STORE_READ);
    assert_int_equal(store_find(f.s, &key, &id, NULL, &f.d), ST_OK);
    assert_int_equal(id, f.id);
    assert_int_equal(store_trials(f.s, id, &shape, &t, &n, &f.d), ST_OK);
    assert_int_equal(n, 2);
    assert_int_equal(t[0].number, 0);
    assert_int_equal(t[0].cycles, 1000);
    assert_int_equal(t[0].estimate, 1005);
    assert_int_equal(t[0].knobs[0].tile_rows, 2);
    assert_int_equal(t[1].number, 4);
    assert_int_equal(t[1].knobs[0].tile_rows, 7);
    assert_int_equal(t[1].knobs[0].cascade, 1);
    assert_int_equal(t[1].knobs[1].group_tiles, 0);
    assert_int_equal(t[1].knobs[2].group_tiles, 4);
    assert_int_equal(t[0].value[0], 4);
    assert_int_equal(t[1].value[0], 9);
    drop(&f);
}

static void another_key_finds_nothing_and_says_why(void **state)
{
    (void)state;
    const struct {
        struct tune_key key;
        const char *why;
    } other[] = {{{"another", "hardware", "schedule"}, "no results for this network"},
                 {{"graph", "another", "schedule"}, "other hardware"},
                 {{"graph", "hardware", "another"}, "another version"}};
    struct fixture f = make();
    const char *note;
    int64_t id;
    assert_int_equal(store_find(f.s, &key, &id, &note, &f.d), ST_OK);
    assert_int_equal(id, 0); /* created, but nothing measured */
    add(&f, 0, 1000, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(store_find(f.s, &other[i].key, &id, &note, &f.d), ST_OK);
        assert_int_equal(id, 0);
        if (!strstr(note, other[i].why))
            fail_msg("%s: %s", other[i].why, note);
    }
    drop(&f);
}

/* Fewer operators than were stored: not this graph, whatever the key. */
static void knobs_of_no_operator_are_refused(void **state)
{
    (void)state;
    struct fixture f = make();
    struct store_trial *t;
    uint32_t n;
    add(&f, 0, 1000, 1);
    const struct knob_shape fewer = {OPS - 1, layer, most, {1, &lanes}};
    assert_int_equal(store_trials(f.s, f.id, &fewer, &t, &n, &f.d), ST_USAGE);
    if (!strstr(f.d.text, "knobs[1].op: found 2, expected an operator from 0 to 1"))
        fail_msg("%s", f.d.text);
    drop(&f);
}

/* A value that the target no longer has. */
static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    struct fixture f = make();
    struct tune_attr narrow = {1, 0, "mine", "lanes", 2, 5};
    const struct knob_shape other = {OPS, layer, most, {1, &narrow}};
    struct store_trial *t;
    uint32_t n;
    add(&f, 0, 1000, 4); /* lanes 6 */
    assert_int_equal(store_trials(f.s, f.id, &other, &t, &n, &f.d), ST_USAGE);
    assert_non_null(strstr(f.d.text, "attributes[0].lanes: found 6, expected 2 to 5"));
    drop(&f);
}

/* The file was edited by hand. */
static void wild_values_are_refused(void **state)
{
    static const struct {
        const char *change, *expected;
    } wild[] = {
        {"json_set(knobs, '$.knobs[0].cascade', 2)",
         "knobs[0].cascade: found 2, expected 0 (by rule) to 1 for 00_a"},
        {"json_set(knobs, '$.knobs[1].group_tiles', 'many')",
         "knobs[1].group_tiles: found \"many\", expected 0 (by rule) to 4 for 02_c"},
        {"json_set(knobs, '$.knobs[1].layer', '01_b')",
         "knobs[1].layer: found \"01_b\", expected \"02_c\": the file is of another network"},
        {"'{'", ": not valid JSON"},
        {"''", ": not valid JSON"}};

    (void)state;

    for (uint32_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        struct fixture f = make();
        struct store_trial *t;
        char sql[128];
        sqlite3 *db;
        uint32_t n;

        add(&f, 0, 1000, 4);
        assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
        snprintf(sql, sizeof sql, "UPDATE trial SET knobs = %s", wild[i].change);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(store_trials(f.s, f.id, &shape, &t, &n, &f.d), ST_USAGE);
        if (!strstr(f.d.text, wild[i].expected))
            fail_msg("%s: %s", wild[i].change, f.d.text);
        drop(&f);
    }
}

/* A process is killed while it writes one trial after another: all trials that it reported are
 * stored completely. */
static void a_kill_loses_no_trial(void **state)
{
    (void)state;
    struct fixture f = make();
    struct store_trial *t;
    int written[2];
    uint32_t n, last = 0;
    store_close(f.s);
    assert_int_equal(pipe(written), 0);
    pid_t pid = fork();
    if (pid == 0) {
        open_store(&f, STORE_WRITE);
        for (uint32_t i = 0;; i++) {
            add(&f, i, 1000 + i, i + 1);
            if (write(written[1], &i, sizeof i) != sizeof i)
                _exit(1);
        }
    }
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(read(written[0], &last, sizeof last), sizeof last);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    open_store(&f, STORE_READ);
    assert_int_equal(store_trials(f.s, f.id, &shape, &t, &n, &f.d), ST_OK);
    assert_true(n > last);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(t[i].knobs[0].tile_rows, i + 1);
        assert_int_equal(t[i].knobs[2].group_tiles, 4);
    }
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_read_back),
        cmocka_unit_test(another_key_finds_nothing_and_says_why),
        cmocka_unit_test(knobs_of_no_operator_are_refused),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(wild_values_are_refused),
        cmocka_unit_test(a_kill_loses_no_trial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
