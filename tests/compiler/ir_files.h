/* ir_files.h - shared by tests on .ir files: find them, read them, compare text. */
#ifndef HEDDLE_TESTS_IR_FILES_H
#define HEDDLE_TESTS_IR_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compiler/ir/ir.h"

/* The whole text of `path`. */
static inline const char *ir_text(struct arena *a, const char *path)
{
    struct diag d = {0};
    uint8_t *data;
    size_t n;

    if (file_read(a, path, 1 << 26, &data, &n, &d) != ST_OK)
        fail_msg("%s", d.text);
    return (const char *)data;
}

/* `path` with its last `n` characters replaced by `end`. */
static inline const char *ir_sibling(struct arena *a, const char *path, size_t n, const char *end)
{
    return arena_printf(a, "%.*s%s", (int)(strlen(path) - n), path, end);
}

static inline bool ir_ends(const char *s, const char *end)
{
    return strlen(s) >= strlen(end) && strcmp(s + strlen(s) - strlen(end), end) == 0;
}

/* Run `one` on each file that matches `pattern`, with a fresh arena; there must be at least one. */
static inline void ir_each(const char *pattern, void one(struct arena *a, const char *path))
{
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct arena *a = arena_new(0);

        one(a, found.gl_pathv[i]);
        arena_free(a);
    }
    globfree(&found);
}

/* Fail at the first line at which the texts differ. */
static inline void ir_same_text(const char *path, const char *expected, const char *found)
{
    unsigned line = 1;
    size_t i = 0;

    while (expected[i] != '\0' && expected[i] == found[i])
        line += expected[i++] == '\n';
    if (expected[i] != found[i])
        fail_msg("%s differs in line %u: expected '%.60s', found '%.60s'", path, line, expected + i,
                 found + i);
}

/* Compare with the file next to `path` that has `end` instead of ".ir"; UPDATE=1 writes it. */
static inline void ir_same_as_sibling(struct arena *a, const char *path, const char *end,
                                      const char *found)
{
    const char *sibling = ir_sibling(a, path, 3, end);
    struct diag d = {0};

    if (getenv("UPDATE") != NULL)
        assert_int_equal(file_write(sibling, found, strlen(found), &d), ST_OK);
    ir_same_text(sibling, ir_text(a, sibling), found);
}

#endif
