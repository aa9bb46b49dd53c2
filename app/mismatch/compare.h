/* compare.h - find the first bytes that two engines wrote differently in the same submissions.
 *
 * First pass: both engines' commits go into a commit_log each, which keeps one hash per command:
 * the sum over its bytes of a mixing hash of (space, address, byte), so the order of writes does
 * not matter. commit_log_first names the first command whose hashes differ. Second pass: both run
 * again, commits go into a commit_capture each, which keeps the bytes of that command only;
 * commit_capture_compare names the byte.
 *
 * A command must write each byte equally often in both engines: a byte written twice shows as a
 * difference. */
#ifndef HEDDLE_APP_MISMATCH_COMPARE_H
#define HEDDLE_APP_MISMATCH_COMPARE_H

#include <stdbool.h>

#include "base/arena.h"
#include "sim/hd_sim.h"

/* A command of a run: submissions count from 0, commands from 0 within their submission; commands
 * from COMMIT_LAST on share one entry. */
#define COMMIT_LAST ((1u << 20) - 1)
struct commit_place {
    uint32_t submission, command;
};

/* First pass. Zero-initialise it and set arena. */
struct commit_log {
    struct arena *arena;
    struct commit_hash *hash; /* of every command, submission by submission */
    uint32_t n_hashes, capacity;
    uint32_t *start; /* by submission: index in hash of its command 0 */
    uint32_t n_submissions, submission_capacity;
};

struct commit_hash {
    uint64_t sum, bytes;
};

/* Called before each submission with a struct commit_log, as is the sink. */
void commit_log_submission(void *log);
/* A sink for hd_sim_api.commits and the functional model; ctx is the log. */
void commit_log_sink(void *log, const struct hd_sim_commit *commit);
/* Find the first command, in stream order, that differs; false if none does. */
bool commit_log_first(const struct commit_log *a, const struct commit_log *b,
                      struct commit_place *place);

/* Second pass. Zero-initialise it, and set arena and place. */
struct commit_capture {
    struct arena *arena;
    struct commit_place place;
    uint32_t submissions; /* begun so far */
    struct commit_byte *byte;
    size_t n_bytes, capacity;
};

struct commit_byte {
    uint64_t address, cycle;
    uint32_t order; /* of writing */
    uint32_t unit;
    uint8_t space, value;
};

void commit_capture_submission(void *capture);
void commit_capture_sink(void *capture, const struct hd_sim_commit *commit);

enum mismatch_kind {
    MISMATCH_VALUE,   /* both wrote the byte, differently */
    MISMATCH_MISSING, /* only the expected engine wrote it */
    MISMATCH_EXTRA,   /* only the found engine wrote it */
    MISMATCH_COUNT,   /* the final values are equal, but the number of writes differs */
};

struct mismatch {
    enum mismatch_kind kind;
    struct commit_place place;
    uint32_t unit;  /* enum hd_unit */
    uint32_t space; /* as in struct hd_sim_commit */
    uint64_t address;
    uint8_t expected, found;
    uint64_t cycle;  /* of the found write, since the doorbell; 0 if it is missing */
    uint64_t differ; /* number of bytes of this command that differ */
    /* Set by mismatch_locate for ARRAY and VECTOR; otherwise located is false. */
    bool located;
    uint32_t row, column, channel, tile, block;
};

/* Find the first wrong byte by time (missing ones last), then by address; false if all are equal.
 * Sorts the captures. */
bool commit_capture_compare(struct commit_capture *expected, struct commit_capture *found,
                            struct mismatch *m);

/* Find the element of the command's output that contains the byte. words: the command; n: lanes
 * (hd_config.n). */
void mismatch_locate(struct mismatch *m, const uint32_t *words, uint32_t n);

/* Return "submission 0, command 12: array, 03_conv2d"; layer may be NULL. */
const char *mismatch_command_text(struct arena *a, const struct mismatch *m, const char *layer);
/* Return "scratchpad 0x1a40: row 3, column 7, channel 5; tile 0, block 1; cycle 5120". */
const char *mismatch_place_text(struct arena *a, const struct mismatch *m);
/* Return "expected 0x80 (-128), found 0x7f (127); 16 bytes of the command differ". */
const char *mismatch_values_text(struct arena *a, const struct mismatch *m);
/* Return all three in one line. */
const char *mismatch_text(struct arena *a, const struct mismatch *m, const char *layer);

#endif
