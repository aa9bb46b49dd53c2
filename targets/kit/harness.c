/* harness.c - runs emitted code whose operators are all a target's, between guard pages, under
 * AddressSanitizer and UndefinedBehaviorSanitizer. heddle check-target compiles and runs it.
 *   harness N     in_<i>.bin hold N inferences of input i, out_<i>.bin receive the outputs twice
 * over: first with every tensor ending where a page without access begins, then beginning where one
 * ends. The file `at` holds the number of the layer that is running. 3: the target returned an
 * error. 4: a call changed its input, whose number is in `at`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hd_model.h"

extern const struct hd_model hd_model;
extern const uint8_t model_constants[];

#define PAGE ((size_t)4096)
#define FILL 0x5a /* what outputs hold before: an element left unwritten shows */

static volatile uint32_t *at;

static void stop(const char *what)
{
    perror(what);
    exit(2);
}

/* n bytes between two pages without access, against the upper or the lower one. */
static uint8_t *guarded(size_t n, int low)
{
    size_t pages = (n + PAGE - 1) / PAGE + (n == 0);
    uint8_t *p =
        mmap(NULL, (pages + 2) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE) != 0 ||
        mprotect(p + (pages + 1) * PAGE, PAGE, PROT_NONE) != 0)
        stop("guard pages");
    return low ? p + PAGE : p + (pages + 1) * PAGE - n;
}

static void release(uint8_t *p, size_t n)
{
    uint8_t *page = (uint8_t *)((uintptr_t)p / PAGE * PAGE);
    munmap(page - PAGE, ((n + PAGE - 1) / PAGE + (n == 0) + 2) * PAGE);
}

static void enter(void *ctx, uint32_t layer, uint32_t submission)
{
    (void)ctx;
    (void)submission;
    *at = layer;
}

static FILE *file_of(const char *kind, uint32_t i, const char *mode)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%u.bin", kind, i);
    FILE *f = fopen(name, mode);
    if (!f)
        stop(name);
    return f;
}

static void read_input(uint8_t *to, uint32_t i, long inference)
{
    FILE *f = file_of("in", i, "rb");
    size_t n = hd_model.inputs[i].n_bytes;
    if (fseek(f, inference * (long)n, SEEK_SET) != 0 || fread(to, 1, n, f) != n)
        stop("in_*.bin");
    fclose(f);
}

/* Inputs must come back as they went in. */
static void check_input(const uint8_t *now, uint32_t i, long inference)
{
    size_t n = hd_model.inputs[i].n_bytes, k = 0;
    uint8_t *before = malloc(n + 1);
    if (!before)
        stop("memory");
    read_input(before, i, inference);
    while (k < n && now[k] == before[k])
        k++;
    if (k < n) {
        fprintf(stderr, "changed byte %zu of %zu of its input from %d to %d\n", k, n,
                (int8_t)before[k], (int8_t)now[k]);
        *at = i;
        exit(4);
    }
    free(before);
}

static void infer(long inference, int low)
{
    uint32_t n_in = hd_model.n_inputs, n_out = hd_model.n_outputs;
    uint8_t **io = calloc(n_in + n_out + 1, sizeof *io);
    uint8_t *arena = aligned_alloc(64, (hd_model.arena_bytes + 64) / 64 * 64);
    struct hd_call call = {.arena = arena, .in = io, .out = io + n_in, .enter = enter};
    for (uint32_t i = 0; i < n_in; i++)
        read_input(io[i] = guarded(hd_model.inputs[i].n_bytes, low), i, inference);
    for (uint32_t i = 0; i < n_out; i++) {
        io[n_in + i] = guarded(hd_model.outputs[i].n_bytes, low);
        memset(io[n_in + i], FILL, hd_model.outputs[i].n_bytes);
    }
    int rc = hd_model.run(&call);
    if (rc != 0) {
        fprintf(stderr, "returned %d\n", rc);
        exit(3);
    }
    for (uint32_t i = 0; i < n_out; i++) {
        FILE *f = file_of("out", i, "ab");
        if (fwrite(io[n_in + i], 1, hd_model.outputs[i].n_bytes, f) != hd_model.outputs[i].n_bytes)
            stop("out_*.bin");
        fclose(f);
        release(io[n_in + i], hd_model.outputs[i].n_bytes);
    }
    for (uint32_t i = 0; i < n_in; i++) {
        check_input(io[i], i, inference);
        release(io[i], hd_model.inputs[i].n_bytes);
    }
    free(arena);
    free(io);
}

/* The bytes between constants, which no call may read: pairs of offset and number in the file `gaps`. */
static void poison_gaps(void)
{
    uint32_t gap[2];
    FILE *f = fopen("gaps", "rb");
    while (f && fread(gap, sizeof gap, 1, f) == 1)
        __asan_poison_memory_region(model_constants + gap[0], gap[1]);
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    int fd = open("at", O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || ftruncate(fd, 4) != 0)
        stop("at");
    at = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        stop("at");
    poison_gaps();
    for (int low = 0; low < 2; low++)
        for (long k = 0; k < n; k++)
            infer(k, low);
    return 0;
}
