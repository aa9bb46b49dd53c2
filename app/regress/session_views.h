/* session_views.h - the forms in which a session is shown. */
#ifndef HEDDLE_REGRESS_SESSION_VIEWS_H
#define HEDDLE_REGRESS_SESSION_VIEWS_H

#include "base/text.h"
#include "history.h"

/* A session with its runs and findings. */
struct view {
    struct history_session session;
    struct suite suite;
    struct judge judge;
};

/* --- view_text.c --- */

/* Print one line per run, then the findings. */
void view_table(struct text *t, const struct view *v);
/* Print one line per session. */
void view_sessions(struct text *t, const struct history_session *s, uint32_t n);
/* Print the runs that both sessions have: cycles, and for changed runs the layers and counters that
 * changed the most. */
void view_compare(struct text *t, const struct view *a, const struct view *b);
/* Return "2026-11-22 18:30" in UTC; "" for 0. */
const char *view_time(struct arena *a, int64_t seconds);

/* --- view_json.c --- */

/* docs/regress.v1.schema.json */
enum status view_json(struct arena *a, const struct view *v, const char *path, struct diag *d);

/* --- view_junit.c --- */

/* Write JUnit XML for CI servers: one test case per run. */
enum status view_junit(struct arena *a, const struct view *v, const char *path, struct diag *d);
/* Print a workflow command of GitHub for each finding, and one that counts the runs. */
void view_github(struct text *t, const struct view *v);
/* Write a badge: the suite's name, how many runs are right, wrong or missing. */
enum status view_badge(struct arena *a, const struct view *v, const char *path, struct diag *d);
/* Add text escaped for XML and HTML. */
void view_escape(struct text *t, const char *s);

/* --- view_changes.c --- */

/* A run as changes_of takes it: what is known of a stats file, and its layers. The caller deletes
 * both. */
struct view_side {
    struct cJSON *run, *list;
};
struct view_side view_side(const struct suite_run *r);
/* Compare two runs under the names of their sessions (app/changes/changes.h); the caller deletes
 * the comparison. */
struct cJSON *view_changes(struct arena *a, const char *before, const struct suite_run *x,
                           const char *after, const struct suite_run *y);

/* --- view_targets.c --- */

/* Write targets.md, .csv and .html into `folder`: networks x targets. *any: false if no run names
 * targets, and nothing is written. */
enum status view_targets(struct arena *a, const struct view *v, const char *folder, bool *any,
                         struct diag *d);

/* --- view_page.c --- */

/* Write a page up to its body's first element; `more`: CSS in addition to that of all pages. */
void view_head(struct text *t, const char *title, const char *more);

/* Write one HTML file without scripts or references: the last session, a trend per run, first bad
 * commits. */
enum status view_page(struct arena *a, const struct view *v, uint32_t n, const char *path,
                      struct diag *d);

#endif
