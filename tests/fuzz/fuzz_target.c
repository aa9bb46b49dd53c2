/* fuzz_target.c - target.json: the bytes are written into a folder of the process. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "compiler/target/describe.h"
#include "fuzz.h"

static const char *folder(void)
{
    static char path[] = "/tmp/heddle_fuzz_XXXXXX";
    static bool made;

    if (!made && mkdtemp(path) == NULL)
        abort();
    made = true;
    return path;
}

static enum status read_file(struct arena *a, const uint8_t *data, size_t n_bytes,
                             struct ir_graph **graph, struct diag *d)
{
    const struct target_desc *desc;
    FILE *f = fopen(arena_printf(a, "%s/target.json", folder()), "wb");

    (void)graph;
    if (f == NULL || fwrite(data, 1, n_bytes, f) != n_bytes || fclose(f) != 0)
        abort();
    return describe_read(a, folder(), &desc, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    fuzz_one(read_file, data, n_bytes);
    return 0;
}
