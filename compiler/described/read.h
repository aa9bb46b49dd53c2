/* read.h - the description of a device in a target.json. */
#ifndef HEDDLE_COMPILER_DESCRIBED_READ_H
#define HEDDLE_COMPILER_DESCRIBED_READ_H

#include "base/json/json_doc.h"
#include "described.h"

/* Read "memories", "instructions" and "order" of a document that the schema has checked; *device is
 * NULL if it has none. core_bytes: its core's memory; 0: it has no core. ST_USAGE: the message has
 * file, line, column, what was expected and what was found. */
enum status described_read(struct arena *a, struct json_doc *doc, uint32_t core_bytes,
                           const struct described_device **device, struct diag *d);

#endif
