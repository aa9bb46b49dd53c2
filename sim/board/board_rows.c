/* board_rows.c - see board_rows.h. Finds the row of the network for which the processor works.
 * run() of model.c calls one row after another, in the order of its model_enter lines; the
 * program's debug information (-g) gives the line of a call. */
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "board_rows.h"
#include "board_time.h"
#include "sim/build/tools.h"
#include "sim/iss/iss_decode.h"

#define MAX_ASKED 1000u /* addresses per call of addr2line */
#define MODEL     "/model.c:"

/* Return true for the code of run(), or of a part that the compiler split off. */
bool board_is_run(const struct iss_symbol *s)
{
    return strcmp(s->file, "model.c") == 0 &&
           (strcmp(s->name, "run") == 0 || strncmp(s->name, "run.", 4) == 0);
}

/* Return for each line of model.c the last row entered at or before it; BOARD_NO_ROW before the
 * first. */
static uint32_t *rows_of_lines(struct board *b, uint32_t *n_line)
{
    const char *const text = b->setup->source;
    uint32_t row = BOARD_NO_ROW, n = 0, *rows;

    for (const char *c = text; *c; c++)
        n += *c == '\n';
    rows = ARENA_ARRAY(b->arena, uint32_t, n + 1);
    *n_line = 1;
    for (const char *line = text; *n_line <= n; line = strchr(line, '\n') + 1, ++*n_line) {
        if (strncmp(line, "    model_enter(call, ", 22) == 0) {
            row = (uint32_t)strtoul(line + 22, NULL, 10);
            b->first_row = b->first_row == BOARD_NO_ROW ? row : b->first_row;
        }
        rows[*n_line] = row;
    }
    return rows;
}

/* Read the output of addr2line -a -i: an address, then its lines, from the innermost inlined
 * function outwards. For a function that the compiler has split, also read that of its first
 * line. */
static void keep_rows(struct board *b, const char *text, const uint32_t *rows, uint32_t n_line)
{
    uint32_t at = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *const end = line + strcspn(line, "\n"), *const found = strstr(line, MODEL);

        if (strncmp(line, "0x", 2) == 0) {
            at = (uint32_t)strtoul(line, NULL, 16) - b->cpu->code_base;
        } else if (found && found < end) {
            const unsigned long k = strtoul(found + strlen(MODEL), NULL, 10);
            if (k < n_line && rows[k] != BOARD_NO_ROW)
                b->row_of[at / 4] = rows[k];
        }
    }
}

/* Ask for the lines of the jump instructions of run(), from `at` on. */
static enum status ask(struct board *b, const struct sim_tool *tool, uint32_t *at,
                       const uint32_t *rows, uint32_t n_line)
{
    const char *argv[MAX_ASKED + 7] = {tool->path, "-a", "-i", "-e", b->setup->elf}, *text;
    const struct iss *const c = b->cpu;
    uint32_t n = 5;

    for (; *at < c->code_bytes && n < MAX_ASKED; *at += 4) {
        const uint8_t *const bytes = iss_bytes(b->cpu, c->code_base + *at, 4);
        const uint32_t opcode = bytes[0] & 0x7fu;

        if (c->owner[*at / 4] == OF_RUN && (opcode == 0x6f || opcode == 0x67)) /* jal, jalr */
            argv[n++] = arena_printf(b->arena, "0x%x", c->code_base + *at);
    }
    if (n == 5)
        return ST_OK;
    TRY(tool_ask(b->arena, "asking for lines of the emitted C", argv, &text, b->d));
    keep_rows(b, text, rows, n_line);
    return ST_OK;
}

enum status board_find_rows(struct board *b)
{
    struct sim_tool tool;
    struct diag ignored = {0};
    const char *cache;
    uint32_t n_line, at = 0;

    b->first_row = b->row = BOARD_NO_ROW;
    if (!b->setup->source)
        return ST_OK;
    TRY(home_cache(b->arena, &cache, b->d));
    if (tool_find(b->arena, cache, BOARD_ADDR2LINE, BOARD_BINUTILS, NULL, &tool, &ignored) != ST_OK)
        return ST_OK; /* the rows are then unknown */
    const uint32_t *const rows = rows_of_lines(b, &n_line);
    b->row_of = ARENA_ARRAY(b->arena, uint32_t, b->cpu->code_bytes / 4);
    for (uint32_t i = 0; i < b->cpu->code_bytes / 4; i++)
        b->row_of[i] = BOARD_NO_ROW;
    while (at < b->cpu->code_bytes)
        TRY(ask(b, &tool, &at, rows, n_line));
    b->result->host.by_row = true;
    return ST_OK;
}

/* Attribute cycles when the processor enters another function: those since it left run() belong to
 * the row of that call, those of run() itself to the row that it now calls. */
void board_left(void *ctx, uint32_t owner, uint32_t from)
{
    struct board *const b = ctx;
    const uint32_t row =
        owner == OF_RUN && b->row_of ? b->row_of[(from - b->cpu->code_base) / 4] : BOARD_NO_ROW;

    if (row != BOARD_NO_ROW && row != b->row) {
        b->row = row;
        b->phase = BOARD_PREPARES;
    }
    board_account(b);
}
