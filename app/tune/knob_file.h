/* knob_file.h - knobs as JSON: the form that people edit, `inspect --format=json` prints, --knobs
 * reads and the file of "heddle tune" stores for each trial (docs/KNOBS.md):
 *
 *     {"knobs": [{"op": 1, "layer": "01_conv2d", "tile_rows": 4}],
 *      "attributes": [{"target": "mine", "lanes": 2}]} */
#ifndef HEDDLE_TUNE_KNOB_FILE_H
#define HEDDLE_TUNE_KNOB_FILE_H

#include "attrs.h"
#include "base/json/json_doc.h"

/* The operators that have knobs, and the knobs' ranges. */
struct knob_shape {
    uint32_t n_op;
    const char *const *layer;       /* by operator position: name of its row */
    const struct sched_knobs *most; /* by operator position; all 0: it has no knobs */
    struct tune_attrs attrs;
};
struct knob_shape knob_shape_of(const struct pipeline *p);

/* Add members "knobs" and "attributes" to `o`. all: also knobs that are 0, so that their names can
 * be seen. */
void knob_file_add(cJSON *o, const struct knob_shape *shape, const struct sched_knobs *knobs,
                   const int64_t *value, bool all);
/* Read `doc` into knobs (by operator position) and value (by attribute); knobs that it does not
 * name become 0, attributes stay. Other members of the document are ignored. ST_USAGE: the message
 * has the place, the value found and the range. */
enum status knob_file_take(const struct json_doc *doc, const struct knob_shape *shape,
                           struct sched_knobs *knobs, int64_t *value, struct diag *d);

#endif
