/* page.c - see page.h. */
#include "page.h"

#include <string.h>

#include "app/stats/files.h"

static void add_json(struct text *t, const char *s)
{
    for (size_t n; *s; s += n) {
        n = strcspn(s, "<");
        text_add_n(t, s, n);
        if (s[n] == '<') { /* in JSON it occurs only within strings */
            text_add(t, "\\u003c");
            n++;
        }
    }
}

static void add_part(struct text *t, const struct page_part *part, const char *name, size_t n)
{
    for (; part->name; part++)
        if (strlen(part->name) == n && strncmp(part->name, name, n) == 0) {
            if (part->json)
                add_json(t, part->text);
            else
                text_add(t, part->text);
            return;
        }
    text_add(t, report_file(arena_strndup(t->arena, name, n)));
}

void page_fill(struct text *t, const char *template, const struct page_part *parts)
{
    const char *s = report_file(template);

    for (const char *open; (open = strstr(s, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");

        text_add_n(t, s, (size_t)(open - s));
        add_part(t, parts, open + 2, (size_t)(close - open) - 2);
        s = close + 2;
    }
    text_add(t, s);
}
