/* search_work.c - what the search's bounds of work cost: the estimate of the schedule that compile
 * finds, against the one of a search that may do WORK times as much.
 *
 *     search_work sys16 45 1 tests/models/resnet8_own/model.tflite ...
 *
 * Arguments: configuration, WORK, most that the estimate may be above the other (percent), models.
 * Exit status 0: all within; 1: one is not; 2: usage. Prints seconds of CPU, too, which depend on
 * the machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compiler/pipeline.h"

struct found {
    uint64_t cycles;
    double seconds;
};

static enum status search(const char *hw, const char *path, uint32_t work, struct found *f,
                          struct diag *d)
{
    struct arena *a = arena_new(0);
    struct pipeline p = {.arena = a,
                         .options = {.hw = hw,
                                     .target = {2, {&target_systolic, &target_host_c}},
                                     .schedule = {.mem_latency = 64, .work = work}}};
    const clock_t begin = clock();
    enum status st = pipeline_front(&p, path, path, d);

    if (st == ST_OK)
        st = pipeline_back(&p, d);
    if (st == ST_OK)
        *f = (struct found){p.program->est_cycles,
                            (double)(clock() - begin) / (double)CLOCKS_PER_SEC};
    arena_free(a);
    return st;
}

int main(int argc, char **argv)
{
    bool off = false;

    if (argc < 5) {
        fprintf(stderr, "usage: search_work HW WORK PERCENT MODEL...\n");
        return 2;
    }
    for (int i = 4; i < argc; i++) {
        struct found once, more;
        struct diag d = {0};

        if (search(argv[1], argv[i], 1, &once, &d) != ST_OK ||
            search(argv[1], argv[i], (uint32_t)strtoul(argv[2], NULL, 0), &more, &d) != ST_OK) {
            printf("%s: %s\n", argv[i], d.text);
            return 1;
        }
        const double above = 100.0 * ((double)once.cycles / (double)more.cycles - 1);
        const bool over = above > atof(argv[3]);
        printf("%s %s: %" PRIu64 " cycles in %.2f s, %" PRIu64 " in %.2f s: %+.2f %%%s\n", argv[i],
               argv[1], once.cycles, once.seconds, more.cycles, more.seconds, above,
               over ? ", over" : "");
        fflush(stdout);
        off |= over;
    }
    return off;
}
