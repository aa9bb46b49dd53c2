/* stub.c - replaces heddle in tests of heddle regress: `stub run MODEL ... --stats=FILE`
 * writes a stats file without running anything.
 *
 * The file $STUB_RULES has lines `WORD EXIT CYCLES ESTIMATE SECONDS [MESSAGE]`; the first whose
 * WORD is in the arguments (* matches all) applies; exit 99 is a crash. Without the file: exit
 * 0, 1000 cycles, estimate 1000. The arguments are appended to the file $STUB_LOG, one line per
 * run. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct rule {
    int exit;
    double cycles, estimate, seconds;
    char message[256];
};

static void log_arguments(const char *all)
{
    const char *path = getenv("STUB_LOG");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    if (fd < 0)
        return;
    if (write(fd, all, strlen(all)) < 0)
        _exit(98);
    (void)close(fd);
}

static struct rule rule_of(const char *all)
{
    struct rule r = {0, 1000, 1000, 0, ""}, found;
    const char *path = getenv("STUB_RULES");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[512], word[128];

    while (f && fgets(line, sizeof line, f)) {
        found = (struct rule){.exit = 0};
        if (sscanf(line, "%127s %d %lf %lf %lf %255[^\n]", word, &found.exit, &found.cycles,
                   &found.estimate, &found.seconds, found.message) >= 5 &&
            (strcmp(word, "*") == 0 || strstr(all, word))) {
            r = found;
            break;
        }
    }
    if (f)
        (void)fclose(f);
    return r;
}

static int write_stats(const char *path, const struct rule *r)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return 97;
    fprintf(f,
            "{\"schema\": \"heddle.stats.v2\", \"verdict\": \"%s\", \"inferences\": 1, "
            "\"cycles\": %.1f, \"estimated_cycles\": %.0f, \"host_cycles\": 7, \"utilisation\": "
            "0.5, \"energy\": {\"unit\": \"pJ\", \"energy\": 2.5e6}, \"dram_read_bytes\": 64, "
            "\"dram_write_bytes\": 16, \"layers\": [{\"name\": "
            "\"00_a\", \"cycles\": 400, \"estimated_cycles\": 100, \"counters\": {\"array\": "
            "{\"busy\": 400}}}, {\"name\": \"01_b\", \"cycles\": %.1f, \"estimated_cycles\": %.0f, "
            "\"counters\": {\"array\": {\"busy\": 600, \"wait_weight\": %.1f, \"idle\": 0}}}], "
            "\"groups\": []}",
            r->exit ? "mismatch" : "match", r->cycles, r->estimate, r->cycles - 400,
            r->estimate - 400, r->cycles - 1000);
    return fclose(f) == 0 ? 0 : 97;
}

int main(int argc, char **argv)
{
    char all[4096] = "";
    const char *stats = NULL;

    for (int i = 1; i < argc; i++) {
        strncat(all, i > 1 ? " " : "", sizeof all - strlen(all) - 2);
        strncat(all, argv[i], sizeof all - strlen(all) - 2);
        if (strncmp(argv[i], "--stats=", 8) == 0)
            stats = argv[i] + 8;
    }
    strcat(all, "\n");
    const struct rule r = rule_of(all);
    const struct timespec pause = {(time_t)r.seconds,
                                   (long)((r.seconds - (double)(time_t)r.seconds) * 1e9)};
    (void)nanosleep(&pause, NULL);
    log_arguments(all);
    if (*r.message)
        fprintf(stderr, "first line\nheddle: %s\n  a hint\n  another\n", r.message);
    if (r.exit == 99)
        abort();
    if (stats && r.exit < 2 && write_stats(stats, &r) != 0)
        return 97;
    return r.exit;
}
