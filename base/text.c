/* text.c - a growing string in an arena. */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void text_init(struct text *t, struct arena *a)
{
    *t = (struct text){.arena = a};
}

/* Make room for n more bytes and the terminator. The old copy stays in the arena; by doubling, the
 * waste is at most the length of the text. */
static void reserve(struct text *t, size_t n)
{
    size_t capacity = t->capacity == 0 ? 256 : t->capacity;
    char *data;

    if (n < t->capacity - t->length)
        return;
    while (capacity - t->length <= n && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    if (capacity - t->length <= n)
        capacity = SIZE_MAX; /* makes the arena report it */
    data = arena_alloc(t->arena, capacity);
    if (t->length != 0)
        memcpy(data, t->data, t->length);
    t->data = data;
    t->capacity = capacity;
}

void text_add_n(struct text *t, const char *s, size_t n)
{
    reserve(t, n);
    if (n != 0)
        memcpy(t->data + t->length, s, n);
    t->length += n;
    t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_add_n(t, s, strlen(s));
}

void text_printf(struct text *t, const char *format, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, format);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n > 0) {
        reserve(t, (size_t)n);
        (void)vsnprintf(t->data + t->length, (size_t)n + 1, format, again);
        t->length += (size_t)n;
    }
    va_end(again);
}

/* Return the character to write for `c` after `previous` in a C comment or string. */
static char safe_char(unsigned char c, char previous)
{
    if (c == '"')
        return '\'';
    if (c < 0x20 || c >= 0x7f || c == '\\')
        return '_';
    if (c == '?' && previous == '?')
        return '_';
    if ((c == '/' && previous == '*') || (c == '*' && previous == '/'))
        return '_';
    return (char)c;
}

void text_add_escaped(struct text *t, const char *s, size_t max)
{
    char previous = t->length > 0 ? t->data[t->length - 1] : '\0';
    size_t i;

    for (i = 0; s[i] != '\0' && i < max; i++) {
        previous = safe_char((unsigned char)s[i], previous);
        text_add_n(t, &previous, 1);
    }
    if (s[i] != '\0')
        text_add(t, "...");
    else
        text_add_n(t, "", 0);
}

void text_add_json(struct text *t, const char *s)
{
    text_add_n(t, "\"", 1);
    for (size_t n; *s; s += n) {
        for (n = 0; s[n] && !strchr("\"\\<", s[n]) && (unsigned char)s[n] >= 0x20; n++)
            continue;
        text_add_n(t, s, n);
        if (s[n])
            text_printf(t, "\\u%04x", (unsigned)s[n++]);
    }
    text_add_n(t, "\"", 1);
}

void text_add_csv(struct text *t, const char *s)
{
    const bool quote = strpbrk(s, ",\"\r\n") != NULL;

    text_add(t, quote ? "\"" : "");
    for (; *s; s++)
        text_add_n(t, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    text_add(t, quote ? "\"" : "");
}

uint32_t text_hash(uint32_t h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h;
}

const char *text_shell_word(struct arena *a, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%";
    struct text t;

    if (*word && strspn(word, plain) == strlen(word))
        return word;
    text_init(&t, a);
    text_add(&t, "'");
    for (; *word; word++)
        text_add_n(&t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_add(&t, "'");
    return t.data;
}

bool text_ends(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}
