/* program_print.c - printf without a C library: %d %i %u %x %c %s %p %%, flags - and 0, a width, l,
 * ll, z, h. Anything else is printed unchanged. */
#include <stdarg.h>
#include <stdint.h>

#include "driver/package/port.h"
#include "stdio.h"

struct printed {
    char text[128]; /* a buffer, written when it is full */
    uint32_t length;
    int total;
};

static void flush(struct printed *p)
{
    p->text[p->length] = '\0';
    port_print(p->text);
    p->length = 0;
}

static void add(struct printed *p, char c)
{
    if (p->length == sizeof p->text - 1)
        flush(p);
    p->text[p->length++] = c;
    p->total++;
}

struct form {
    int left, width, is_long; /* is_long: 64 bits */
    char fill;
};

static void add_padded(struct printed *p, const struct form *f, const char *text)
{
    int n = 0;

    while (text[n])
        n++;
    for (int k = n; !f->left && k < f->width; k++)
        add(p, f->fill);
    for (int k = 0; k < n; k++)
        add(p, text[k]);
    for (int k = n; f->left && k < f->width; k++)
        add(p, ' ');
}

static void add_number(struct printed *p, struct form *f, uint64_t n, uint32_t base, int negative)
{
    char digits[24], *at = digits + sizeof digits - 1;

    *at = '\0';
    do {
        *--at = "0123456789abcdef"[n % base];
        n /= base;
    } while (n);
    if (negative && f->fill == '0' && !f->left) {
        add(p, '-');
        f->width--;
    } else if (negative) {
        *--at = '-';
    }
    add_padded(p, f, at);
}

static const char *read_form(const char *c, struct form *f)
{
    *f = (struct form){.fill = ' '};
    for (; *c == '-' || *c == '0'; c++) {
        f->left |= *c == '-';
        f->fill = *c == '0' ? '0' : f->fill;
    }
    for (; *c >= '0' && *c <= '9'; c++)
        f->width = f->width * 10 + (*c - '0');
    for (; *c == 'l' || *c == 'z' || *c == 'h'; c++)
        f->is_long |= c[0] == 'l' && c[1] == 'l';
    return c;
}

int printf(const char *format, ...)
{
    struct printed p = {.length = 0};
    struct form f;
    va_list list;

    va_start(list, format);
    for (const char *c = format; *c; c++) {
        if (*c != '%') {
            add(&p, *c);
            continue;
        }
        c = read_form(c + 1, &f);
        if (*c == 'd' || *c == 'i') {
            const int64_t n = f.is_long ? va_arg(list, int64_t) : va_arg(list, int);

            add_number(&p, &f, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 10, n < 0);
        } else if (*c == 'u' || *c == 'x') {
            const uint64_t n = f.is_long ? va_arg(list, uint64_t) : va_arg(list, unsigned);

            add_number(&p, &f, n, *c == 'u' ? 10 : 16, 0);
        } else if (*c == 'p') {
            add_number(&p, &f, (uintptr_t)va_arg(list, void *), 16, 0);
        } else if (*c == 's') {
            add_padded(&p, &f, va_arg(list, const char *));
        } else if (*c == 'c') {
            add_padded(&p, &f, (const char[]){(char)va_arg(list, int), '\0'});
        } else if (*c == '\0') {
            break;
        } else {
            add(&p, *c);
        }
    }
    va_end(list);
    flush(&p);
    return p.total;
}

int puts(const char *text)
{
    return printf("%s\n", text);
}
