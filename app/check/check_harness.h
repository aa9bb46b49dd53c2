/* check_harness.h - run emitted code as a separate program, between guard pages and with
   sanitizers. */
#ifndef HEDDLE_CHECK_HARNESS_H
#define HEDDLE_CHECK_HARNESS_H

#include "app/job/job.h"

struct harness {
    struct arena *arena;
    const struct emit_unit *emitted;
    uint32_t n, n_in; /* inferences, inputs */
    const struct run_data *in;
};

enum harness_end {
    HARNESS_DONE,
    HARNESS_NOT_BUILT, /* text: the compiler's first lines */
    HARNESS_LEAK,      /* text: the sanitizer's line */
    HARNESS_SANITIZER, /* text: the sanitizer's line; layer: where it occurred */
    HARNESS_ERROR,     /* the call returned an error; text: "returned -3" */
    HARNESS_INPUT,     /* a call changed its input, layer: of that number; text: the byte */
    HARNESS_TIME,      /* text: "60 s" */
};

struct harness_result {
    enum harness_end end;
    uint32_t layer;
    const char *text;
};

/* Compile and run the code, and read 2 n inferences of each output into out[]. ST_OK whatever the
 * code did; an error only for a full disk or a failed fork. */
enum status harness_run(const struct harness *h, struct run_data *out, uint32_t n_out,
                        struct harness_result *r, struct diag *d);

#endif
