/* The tokenizer against PyPI tokenizers (tests/oracle/gguf/story_texts.py wrote texts.txt), and back to the text. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <stdlib.h>
#include <string.h>

#include "app/language/tokens.h"
#include "base/file.h"
#include "base/text.h"

static char *read_file(struct arena *a, const char *name, size_t *n)
{
    uint8_t *data;
    struct diag d = {0};

    assert_int_equal(file_read(a, arena_printf(a, "%s/tests/%s", getenv("HEDDLE_HOME"), name),
                               1 << 20, &data, n, &d),
                     ST_OK);
    return (char *)data;
}

/* The tokenizer of story with `bytes` in place of the text of setting `near`. */
static enum status open_story(struct arena *a, const char *near, const char *bytes,
                              struct tokens **t, struct diag *d)
{
    struct gguf *f = ARENA_NEW(a, struct gguf);
    size_t n;
    char *data = read_file(a, "models/story/model.gguf", &n);

    *d = (struct diag){0};
    for (size_t i = 0; near && i < n; i++)
        if (strncmp(data + i, near, strlen(near)) == 0) {
            memcpy(data + i + strlen(near) + 12, bytes, strlen(bytes));
            break;
        }
    assert_int_equal(gguf_read(a, (const uint8_t *)data, n, f, d), ST_OK);
    return tokens_open(a, f, t, d);
}

static void unescape(char *s)
{
    char *to = s;

    for (; *s; s++)
        if (*s == '\\' && s[1]) {
            s++;
            *to++ = (char)(*s == 'n' ? '\n' : *s == 't' ? '\t' : *s);
        } else {
            *to++ = *s;
        }
    *to = '\0';
}

static void test_texts(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct tokens *t;
    struct diag d;
    size_t n;
    char *line = read_file(a, "app/language/texts.txt", &n), *end;

    (void)state;
    assert_int_equal(open_story(a, NULL, NULL, &t, &d), ST_OK);
    for (; *line; line = end + 1) {
        char *text = strchr(line, '|') + 2, *p = line;
        struct text back;
        int32_t *id;
        uint32_t count;

        end = strchr(line, '\n');
        *end = '\0';
        unescape(text);
        text_init(&back, a);
        text_add(&back, "");
        assert_int_equal(tokens_of(t, text, &id, &count, &d), ST_OK);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(id[i], strtol(p, &p, 10));
            text_add(&back, tokens_text(t, id[i]));
        }
        assert_int_equal(p[strspn(p, " ")], '|');
        assert_string_equal(back.data, text);
    }
    arena_free(a);
}

static void test_refusals(void **state)
{
    struct arena *a = arena_new((size_t)64 << 20);
    struct tokens *t;
    struct diag d;

    (void)state;
    assert_int_equal(open_story(a, "tokenizer.ggml.model", "bert", &t, &d), ST_UNSUPPORTED);
    assert_string_equal(d.text, "tokenizer.ggml.model: expected gpt2, found 'bert'");
    assert_int_equal(open_story(a, "tokenizer.ggml.pre", "qwen2", &t, &d), ST_UNSUPPORTED);
    assert_string_equal(d.text, "tokenizer.ggml.pre: expected gpt-2 or smollm, found 'qwen2'");
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_refusals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
