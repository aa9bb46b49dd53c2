/* board_files.c - see board_files.h. The setup provides the program's files; an inference lasts
 * from its last input to its first output. */
#include <stdio.h>
#include <string.h>

#include "board_files.h"
#include "board_time.h"
#include "board_waves.h"

#define MAX_PRINTED 4096u

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT = 0x20 };

/* Open a file: "in_3.bin" is file 3, "out_0.bin" follows the inputs; -1: no such file. */
static int32_t open_file(const struct board *b, uint32_t name, uint32_t length)
{
    const struct board_setup *const g = b->setup;
    const char *const text = (const char *)iss_bytes(b->cpu, name, length);
    char copy[16];
    uint32_t index;
    char kind[8];

    if (text == NULL || length >= sizeof copy)
        return -1;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (sscanf(copy, "%3[a-z]_%u.bin", kind, &index) != 2)
        return -1;
    if (strcmp(kind, "in") == 0)
        return index < g->n_in ? (int32_t)index : -1;
    return index < g->n_out ? (int32_t)(g->n_in + index) : -1;
}

/* Return the next inference's bytes of an input or output; NULL: none is left. */
static uint8_t *next_bytes(struct board *b, uint32_t file, uint32_t n_bytes)
{
    const struct board_file *const data = &b->setup->file[file];
    const uint64_t k = b->setup->first + b->read[file] * b->setup->step;

    if (k >= b->setup->n || n_bytes != data->n_bytes)
        return NULL;
    b->read[file]++;
    return data->bytes + k * data->n_bytes;
}

void board_begin(struct board *b)
{
    const uint32_t k = b->setup->first + b->done * b->setup->step;

    board_account(b);
    b->watch->inference(b->watch->ctx, k);
    b->begun = b->cpu->cycles;
    b->within = true;
    b->traced = b->begun;
    if (b->sim && b->setup->stall_seed)
        b->api->seed(b->sim, b->setup->stall_seed + k);
    memcpy(b->before, b->parts, sizeof b->before);
    b->row = b->first_row;
    b->phase = BOARD_PREPARES;
    board_waves_begin(b);
}

void board_end(struct board *b)
{
    board_account(b);
    board_collect(b);
    b->result->host.operators += b->parts[0] + b->parts[2] - b->before[0] - b->before[2];
    b->result->host.driver += b->parts[1] - b->before[1];
    b->result->host.waiting += b->parts[3] - b->before[3];
    b->done++;
    b->within = false;
    b->watch->inference_ended(b->watch->ctx);
}

static uint32_t read_file(struct board *b, uint32_t file, uint32_t to, uint32_t n_bytes)
{
    uint8_t *const bytes = iss_bytes(b->cpu, to, n_bytes);
    const uint8_t *const from = bytes ? next_bytes(b, file, n_bytes) : NULL;

    if (!from)
        return n_bytes;
    memcpy(bytes, from, n_bytes);
    if (file + 1 == b->setup->n_in)
        board_begin(b);
    return 0;
}

static uint32_t write_file(struct board *b, uint32_t file, uint32_t from, uint32_t n_bytes)
{
    const uint8_t *const bytes = iss_bytes(b->cpu, from, n_bytes);
    uint8_t *to;

    if (b->within)
        board_end(b);
    to = bytes ? next_bytes(b, file, n_bytes) : NULL;
    if (!to)
        return n_bytes;
    memcpy(to, bytes, n_bytes);
    return 0;
}

static void print(struct board *b, uint32_t at)
{
    for (const uint8_t *c; (c = iss_bytes(b->cpu, at, 1)) != NULL && *c != '\0'; at++)
        if (b->setup->program)
            putchar(*c);
        else if (b->printed.length < MAX_PRINTED)
            text_printf(&b->printed, "%c", *c);
}

/* RISC-V semihosting 0.2: the operation in a0, the address of its arguments in a1, its result in
 * a0. */
void board_semihosting(struct board *b)
{
    uint32_t *const x = b->cpu->x, argument[3] = {0};

    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *const word = iss_bytes(b->cpu, x[11] + 4 * i, 4);
        if (word != NULL)
            memcpy(&argument[i], word, 4);
    }
    const uint32_t files = b->setup->n_in + b->setup->n_out;
    const bool known = argument[0] < files;
    b->cpu->pc += 4;
    switch (x[10]) {
    case SYS_OPEN: x[10] = (uint32_t)open_file(b, argument[0], argument[2]); break;
    case SYS_CLOSE: x[10] = 0; break;
    case SYS_WRITE0: print(b, x[11]); break;
    case SYS_READ:
        x[10] = known ? read_file(b, argument[0], argument[1], argument[2]) : argument[2];
        break;
    case SYS_WRITE:
        x[10] = known ? write_file(b, argument[0], argument[1], argument[2]) : argument[2];
        break;
    case SYS_EXIT:
        b->ended = true;
        b->reason = argument[0];
        b->code = argument[1];
        break;
    default: x[10] = ~0u; break;
    }
}
