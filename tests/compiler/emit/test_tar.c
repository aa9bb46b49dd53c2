/* Tar files are read back as written. Truncated files, and files with any changed bit in a header,
 * are refused or harmless. test_nightly_package.sh reads those of other programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/emit/package/tar.h"

enum { FILES = 3 };

static const struct tar_file files[FILES] = {
    {"model.c", "int x;\n", 7}, {"runtime/kernels/empty.c", "", 0}, {"commands.c", NULL, 512}};

struct taken {
    uint32_t n;
    char path[4][128];
    size_t n_bytes[4];
};

static enum status take(void *ctx, const struct tar_file *file, struct diag *d)
{
    struct taken *t = ctx;
    volatile uint8_t sum = 0;

    (void)d;
    assert_true(t->n < 4 && strlen(file->path) < sizeof t->path[0]);
    for (size_t i = 0; i < file->n_bytes; i++) /* all bytes are readable */
        sum = (uint8_t)(sum + ((const uint8_t *)file->data)[i]);
    strcpy(t->path[t->n], file->path);
    t->n_bytes[t->n++] = file->n_bytes;
    return ST_OK;
}

/* Return the archive of `files` in memory of exactly its size. */
static uint8_t *archive(struct arena *a, size_t *n_bytes)
{
    static const uint8_t block[512] = {1, 2, 3};
    struct tar_file copy[FILES];
    struct diag d = {0};
    struct text t;
    uint8_t *bytes;

    memcpy(copy, files, sizeof copy);
    copy[2].data = block;
    text_init(&t, a);
    assert_int_equal(tar_write(&t, copy, FILES, &d), ST_OK);
    bytes = malloc(t.length);
    memcpy(bytes, t.data, t.length);
    *n_bytes = t.length;
    return bytes;
}

static void comes_back(void **state)
{
    struct arena *a = arena_new((size_t)1 << 20);
    struct taken t = {0};
    struct diag d = {0};
    size_t n;
    uint8_t *bytes = archive(a, &n);

    (void)state;
    assert_int_equal(n, 3 * 512 + 512 + 0 + 512 + 2 * 512);
    assert_int_equal(tar_read(bytes, n, take, &t, &d), ST_OK);
    assert_int_equal(t.n, FILES);
    for (uint32_t i = 0; i < FILES; i++) {
        assert_string_equal(t.path[i], files[i].path);
        assert_int_equal(t.n_bytes[i], files[i].n_bytes);
    }
    free(bytes);
    arena_free(a);
}

static void cut_and_changed(void **state)
{
    struct arena *a = arena_new((size_t)1 << 20);
    size_t n, harmless = 0;
    uint8_t *bytes = archive(a, &n);

    (void)state;
    for (size_t cut = 0; cut < n; cut += cut % 512 == 511 ? 1 : 73) {
        uint8_t *part = malloc(cut + 1);
        struct taken t = {0};
        struct diag d = {0};
        memcpy(part, bytes, cut);
        const enum status st = tar_read(part, cut, take, &t, &d);
        assert_true(st == ST_OK ? t.n < FILES || cut >= n - 1024 : st == ST_USAGE);
        free(part);
    }
    for (size_t i = 0; i < 512; i++) {
        struct taken t = {0};
        struct diag d = {0};
        bytes[i] ^= 1;
        if (tar_read(bytes, n, take, &t, &d) == ST_OK)
            harmless++;
        else
            assert_int_equal(d.status, ST_USAGE);
        bytes[i] ^= 1;
    }
    assert_true(harmless <= 2); /* at the end of the checksum's own digits */
    free(bytes);
    arena_free(a);
}

static void names_are_bounded(void **state)
{
    struct arena *a = arena_new((size_t)1 << 20);
    struct diag d = {0};
    struct text t;
    char name[102];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[101] = '\0';
    text_init(&t, a);
    assert_int_equal(tar_write(&t, &(struct tar_file){name, "", 0}, 1, &d), ST_INTERNAL);
    assert_non_null(strstr(d.text, ": the name has more than 100 bytes"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(cut_and_changed),
        cmocka_unit_test(names_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
