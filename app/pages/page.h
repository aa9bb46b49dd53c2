/* page.h - write a page as one self-contained file: a template with its style, its script, and the
 * data as JSON. */
#ifndef HEDDLE_PAGES_PAGE_H
#define HEDDLE_PAGES_PAGE_H

#include <stdbool.h>

#include "base/text.h"

/* A text for the place {{name}} of a template; other places are for the files of these names. */
struct page_part {
    const char *name, *text;
    bool json; /* for a script element, which no text may end */
};

/* Fill in a template; the last part has no name. */
void page_fill(struct text *t, const char *template, const struct page_part *parts);

#endif
