/* flips.c - bytes of a model file changed one at a time, each file through what `heddle inspect`,
 * `compile` and `disasm` do: the end is success, or a refusal with exit code 2 or 3 and one
 * paragraph; never a crash, a hang or another code.
 *   flips MODEL [--bytes N] [--step N] [--all-bits]
 * --bytes: how many from the start (4096); --step: every so manieth; --all-bits: each of the eight
 * bits alone as well, not only all at once. Built with sanitizers it is they who look. Batches run
 * in child processes, so that after a crash its byte is named and the rest continues. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/options/options.h"
#include "base/file.h"
#include "compiler/systolic/lower/disasm.h"

enum { SECONDS = 60, EVERYTHING = 0xff };
static const size_t memory_limit = (size_t)8 << 30; /* as in main.c */

/* Shared with the children. */
struct state {
    uint32_t at, mask; /* the flip being tried */
    uint32_t accepted, refused, wrong;
};

struct job {
    const char *path; /* the changed file */
    const uint8_t *data;
    size_t n_bytes;
    struct state *state;
    struct options options;
};

static enum status whole_way(struct arena *a, const struct job *j, struct diag *d)
{
    struct pipeline p = {.arena = a, .options = options_pipeline(&j->options)};
    struct text t;

    TRY(pipeline_front(&p, j->path, "flip", d));
    text_init(&t, a);
    partition_print(&p.partition, &t);
    TRY(pipeline_back(&p, d));
    sched_print(p.program, &t);
    return ST_OK;
}

static void report(struct job *j, int code, const char *text)
{
    printf("byte %u ^ 0x%02x: exit code %d: '%s'\n", j->state->at, j->state->mask, code, text);
    j->state->wrong++;
}

static void try_file(struct job *j)
{
    struct diag d = {.status = ST_OK};
    struct arena *a = arena_new(memory_limit);
    jmp_buf exhausted;
    volatile int code;

    (void)alarm(SECONDS);
    if (setjmp(exhausted)) {
        code = status_exit_code(ST_NO_MEMORY);
    } else {
        arena_on_exhausted(a, &exhausted);
        code = status_exit_code(whole_way(a, j, &d));
    }
    (void)alarm(0);
    if (code == 0)
        j->state->accepted++;
    else
        j->state->refused++;
    if ((code != 0 && code != 2 && code != 3) || (code != 0 && d.text[0] == '\0') ||
        strchr(d.text, '\n'))
        report(j, code, d.text);
    arena_free(a);
}

static void flip(struct job *j, FILE *file, uint32_t at, uint32_t mask)
{
    j->state->at = at;
    j->state->mask = mask;
    if (fseek(file, (long)at, SEEK_SET) != 0 || fputc(j->data[at] ^ (int)mask, file) == EOF ||
        fflush(file) != 0) {
        perror(j->path);
        _exit(2);
    }
    try_file(j);
    (void)fseek(file, (long)at, SEEK_SET);
    (void)fputc(j->data[at], file);
    (void)fflush(file);
}

/* Try bytes `first` to `last`, in a child. */
static void batch(struct job *j, uint32_t first, uint32_t last, uint32_t step, bool all_bits)
{
    FILE *file = fopen(j->path, "r+b");

    for (uint32_t at = first; file && at < last; at += step) {
        flip(j, file, at, EVERYTHING);
        for (uint32_t bit = 0; all_bits && bit < 8; bit++)
            flip(j, file, at, 1u << bit);
    }
    fflush(stdout);
    _exit(file ? 0 : 2);
}

/* Try all flips; after a crash continue with the next byte. */
static void all_batches(struct job *j, uint32_t end, uint32_t step, bool all_bits)
{
    struct diag d = {.status = ST_OK};

    for (uint32_t first = 0; first < end;) {
        int info = 0;
        if (file_write(j->path, j->data, j->n_bytes, &d) != ST_OK) {
            printf("%s\n", d.text);
            j->state->wrong++;
            return;
        }
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0)
            batch(j, first, end, step, all_bits);
        if (pid < 0 || waitpid(pid, &info, 0) != pid) {
            perror("fork");
            j->state->wrong++;
            return;
        }
        if (WIFEXITED(info) && WEXITSTATUS(info) == 0)
            return;
        printf("byte %u ^ 0x%02x: %s\n", j->state->at, j->state->mask,
               WIFSIGNALED(info) ? strsignal(WTERMSIG(info)) : "the sanitizer stopped it");
        j->state->wrong++;
        first = j->state->at + step;
    }
}

int main(int argc, char **argv)
{
    struct diag d = {.status = ST_OK};
    struct arena *a = arena_new(0);
    struct job j;
    char folder[] = "/tmp/heddle-flips-XXXXXX";
    uint32_t end = 4096, step = 1;
    bool all_bits = false;
    uint8_t *data;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--all-bits") == 0)
            all_bits = true;
        else if (i + 1 < argc && strcmp(argv[i], "--bytes") == 0)
            end = (uint32_t)strtoul(argv[++i], NULL, 0);
        else if (i + 1 < argc && strcmp(argv[i], "--step") == 0)
            step = (uint32_t)strtoul(argv[++i], NULL, 0);
        else
            argc = 0;
    }
    if (argc < 2 || step == 0) {
        (void)fprintf(stderr, "usage: flips MODEL [--bytes N] [--step N] [--all-bits]\n");
        return 2;
    }
    struct option_set set;
    if (options_init(&set, a, &j.options, &d) != ST_OK || options_select(&set, &d) != ST_OK ||
        file_read(a, argv[1], (size_t)1 << 28, &data, &j.n_bytes, &d) != ST_OK ||
        !mkdtemp(folder)) {
        (void)fprintf(stderr, "flips: %s\n", d.text);
        return 2;
    }
    j.options.command = COMMAND_COMPILE;
    j.options.no_search = true; /* thousands of schedules */
    j.data = data;
    j.path = arena_printf(a, "%s/flip.tflite", folder);
    j.state =
        mmap(NULL, sizeof *j.state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (j.state == MAP_FAILED)
        return 2;
    all_batches(&j, end < j.n_bytes ? end : (uint32_t)j.n_bytes, step, all_bits);
    (void)unlink(j.path);
    (void)rmdir(folder);
    printf("%u accepted, %u refused, %u wrong\n", j.state->accepted, j.state->refused,
           j.state->wrong);
    arena_free(a);
    return j.state->wrong != 0;
}
