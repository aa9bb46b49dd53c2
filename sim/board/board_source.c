/* board_source.c - see board_source.h. Source lines come from the program's debug information (-g),
 * read by binutils' addr2line, which is installed with the compiler. */
#include <string.h>

#include "base/home.h"
#include "board_source.h"
#include "sim/build/tools.h"

/* Return "mine.c:12", or why it is unknown. */
static const char *line_of(struct board *b, uint32_t address)
{
    const char *cache, *text;
    struct sim_tool tool;
    struct diag d = {0};

    if (home_cache(b->arena, &cache, &d) != ST_OK ||
        tool_find(b->arena, cache, BOARD_ADDR2LINE, BOARD_BINUTILS, NULL, &tool, &d) != ST_OK)
        return "its line is not known: " BOARD_ADDR2LINE " was not found";
    const char *const argv[] = {
        tool.path, "-s", "-e", b->setup->elf, arena_printf(b->arena, "0x%x", address), NULL};
    if (tool_ask(b->arena, "asking for a line of the source", argv, &text, &d) != ST_OK ||
        *text == '?' || !strchr(text, ':') || strchr(text, ':')[1] == '?')
        return "its line is not known";
    return arena_strndup(b->arena, text, strcspn(text, " \n"));
}

static bool is_code(const struct board *b, uint32_t address)
{
    return address - b->cpu->code_base < b->cpu->code_bytes;
}

static const char *place(struct board *b, uint32_t address)
{
    return arena_printf(b->arena, "%s (%s)", iss_place(b->arena, &b->program, address),
                        line_of(b, address));
}

const char *board_place(struct board *b)
{
    const uint32_t pc = b->cpu->pc - (b->slept ? 4 : 0), caller = b->cpu->x[1] - 4;

    if (is_code(b, pc))
        return place(b, pc);
    return arena_printf(b->arena, "0x%08x, %s%s", pc, is_code(b, caller) ? "called by " : "no code",
                        is_code(b, caller) ? place(b, caller) : "");
}
