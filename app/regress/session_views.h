/* session_views.h - the forms in which a session is shown. */
#ifndef HEDDLE_REGRESS_SESSION_VIEWS_H
#define HEDDLE_REGRESS_SESSION_VIEWS_H

#include "base/text.h"
#include "history.h"

/* A session with all that it has. */
struct view {
    struct history_session session;
    struct suite suite;
    struct judge judge;
};

/* --- view_text.c --- */

/* A line a run, then what is not as it should be. */
void view_table(struct text *t, const struct view *v);
/* A line a session. */
void view_sessions(struct text *t, const struct history_session *s, uint32_t n);
/* Runs that both have: cycles, and of those that changed the layers and counters that did most. */
void view_compare(struct text *t, const struct view *a, const struct view *b);
/* "2026-11-22 18:30" in UTC; "" for 0. */
const char *view_time(struct arena *a, int64_t seconds);

/* --- view_json.c --- */

/* docs/regress.v1.schema.json */
enum status view_json(struct arena *a, const struct view *v, const char *path, struct diag *d);

/* --- view_junit.c --- */

/* JUnit XML, as CI servers read it: a test case a run. */
enum status view_junit(struct arena *a, const struct view *v, const char *path, struct diag *d);
/* Text for XML and HTML. */
void view_escape(struct text *t, const char *s);

/* --- view_targets.c --- */

/* targets.md, .csv and .html in `folder`: networks x targets; *any: false where no run names targets,
 * and nothing is written. */
enum status view_targets(struct arena *a, const struct view *v, const char *folder, bool *any,
                         struct diag *d);

/* --- view_page.c --- */

/* All of a page up to its body's first element; `more`: CSS in addition to that of all pages. */
void view_head(struct text *t, const char *title, const char *more);

/* One HTML file without scripts or other files: the last session, a trend a run, first bad commits. */
enum status view_page(struct arena *a, const struct view *v, uint32_t n, const char *path,
                      struct diag *d);

#endif
