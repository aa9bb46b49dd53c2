#define _DEFAULT_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tests/base/test_place.h"

static const char *in(const struct place *p, const char *name)
{
    return arena_printf(p->a, "%s/%s", p->dir, name);
}

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static void what_is_written_is_read(void **state)
{
    const struct place *p = *state;
    static const uint8_t bytes[] = {0, 1, 255, 0};
    struct diag d = {.status = ST_OK};
    uint8_t *data;
    size_t n = 99;

    assert_int_equal(file_write(in(p, "a b"), bytes, sizeof bytes, &d), ST_OK);
    assert_int_equal(file_read(p->a, in(p, "a b"), 4, &data, &n, &d), ST_OK);
    assert_int_equal(n, 4);
    assert_memory_equal(data, bytes, 4);
    assert_int_equal(data[4], 0);
    assert_int_equal(file_write(in(p, "a b"), NULL, 0, &d), ST_OK);
    assert_int_equal(file_read(p->a, in(p, "a b"), 4, &data, &n, &d), ST_OK);
    assert_int_equal(n, 0);
    assert_int_equal(entries(p->dir), 1); /* no temporary file is left */
    assert_true(file_exists(in(p, "a b")));
    assert_false(file_exists(in(p, "b")));
}

static void reading_refuses(void **state)
{
    const struct place *p = *state;
    struct diag missing = {.status = ST_OK}, large = missing, folder = missing, fifo = missing;
    uint8_t *data;
    size_t n;

    assert_int_equal(file_read(p->a, in(p, "none"), 10, &data, &n, &missing), ST_USAGE);
    assert_non_null(strstr(missing.text, "none': No such file or directory"));
    assert_int_equal(file_write(in(p, "five"), "12345", 5, &large), ST_OK);
    assert_int_equal(file_read(p->a, in(p, "five"), 4, &data, &n, &large), ST_USAGE);
    assert_non_null(strstr(large.text, "has 5 bytes, expected at most 4"));
    assert_int_equal(file_read(p->a, p->dir, 10, &data, &n, &folder), ST_USAGE);
    assert_non_null(strstr(folder.text, "not a regular file"));
    assert_int_equal(mkfifo(in(p, "fifo"), 0600), 0);
    assert_int_equal(file_read(p->a, in(p, "fifo"), 10, &data, &n, &fifo), ST_USAGE);
    assert_non_null(strstr(fifo.text, "not a regular file"));
}

static void writing_refuses_and_leaves_nothing(void **state)
{
    const struct place *p = *state;
    struct diag d = {.status = ST_OK}, full = d;

    assert_int_equal(file_write(in(p, "no/file"), "x", 1, &d), ST_USAGE);
    assert_int_equal(entries(p->dir), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(file_write("/dev/full", "x", 1, &full), ST_NO_MEMORY);
        assert_non_null(strstr(full.text, "No space left"));
    }
}

static void devices_and_links_stay(void **state)
{
    const struct place *p = *state;
    struct diag d = {.status = ST_OK};
    struct stat info;
    uint8_t *data;
    size_t n;

    assert_int_equal(file_write("/dev/null", "x", 1, &d), ST_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(file_write(in(p, "real"), "old", 3, &d), ST_OK);
    assert_int_equal(symlink("real", in(p, "link")), 0);
    assert_int_equal(file_write(in(p, "link"), "newer", 5, &d), ST_OK);
    assert_int_equal(lstat(in(p, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(file_read(p->a, in(p, "real"), 9, &data, &n, &d), ST_OK);
    assert_string_equal((char *)data, "newer");
}

static void folders_are_made_with_parents(void **state)
{
    const struct place *p = *state;
    struct diag d = {.status = ST_OK}, taken = d, empty = d;

    assert_int_equal(file_make_dirs(in(p, "a//b c/d/"), &d), ST_OK);
    assert_int_equal(file_make_dirs(in(p, "a/b c/d"), &d), ST_OK);
    assert_true(file_exists(in(p, "a/b c/d/.")));
    assert_int_equal(file_write(in(p, "plain"), "", 0, &d), ST_OK);
    assert_int_equal(file_make_dirs(in(p, "plain/x"), &taken), ST_USAGE);
    assert_non_null(strstr(taken.text, "Not a directory"));
    assert_int_equal(file_make_dirs("", &empty), ST_USAGE);
}

static void a_lock_is_one_s_own_until_it_is_closed(void **state)
{
    const struct place *p = *state;
    struct diag d = {.status = ST_OK}, folder = d;
    const char *path = in(p, "it.lock");
    int fd, other;

    assert_int_equal(file_lock(path, &fd, &d), ST_OK);
    other = open(path, O_RDWR);
    assert_true(other >= 0);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
    (void)close(fd);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    (void)close(other);
    assert_int_equal(file_lock(p->dir, &fd, &folder), ST_USAGE);
    assert_non_null(strstr(folder.text, "Is a directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, make_place, remove_place),
        cmocka_unit_test_setup_teardown(reading_refuses, make_place, remove_place),
        cmocka_unit_test_setup_teardown(writing_refuses_and_leaves_nothing, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(devices_and_links_stay, make_place, remove_place),
        cmocka_unit_test_setup_teardown(folders_are_made_with_parents, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_lock_is_one_s_own_until_it_is_closed, make_place,
                                        remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
