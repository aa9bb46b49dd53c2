/* emit.c - the files of an emitted network, see emit.h. */
#include "emit.h"

#include <string.h>

#include "base/file.h"

static enum status place_state(struct emit_unit *u, struct diag *d)
{
    const struct ir_graph *g = u->graph;
    const uint64_t n = sched_state_offset(g, g->n_tensor);

    if (n > INT32_MAX)
        return FAIL(d, ST_NO_SPACE, "the variables need more than 2147483647 bytes");
    u->state_offset = ARENA_ARRAY(u->arena, uint32_t, g->n_tensor + 1);
    for (uint32_t i = 0; i < g->n_tensor; i++)
        if (g->tensor[i]->role == IR_VARIABLE)
            u->state_offset[i] = (uint32_t)sched_state_offset(g, i);
    u->state_bytes = (uint32_t)n;
    return ST_OK;
}

enum status emit_run(struct arena *a, const struct ir_graph *g, const struct target_list *targets,
                     struct sched_program *p, struct emit_unit **unit, struct diag *d)
{
    struct emit_unit *u = ARENA_NEW(a, struct emit_unit);

    *unit = u;
    u->arena = a;
    u->graph = g;
    u->targets = targets;
    u->program = p;
    TRY(place_state(u, d));
    TRY(emit_model(u, d));
    emit_commands(u);
    emit_constants(u);
    return emit_outside_files(u, d);
}

enum status emit_write(const struct emit_unit *u, const char *dir, struct diag *d)
{
    TRY(file_make_dirs(dir, d));
    for (uint32_t i = 0; i < u->n; i++) {
        const char *path = arena_printf(u->arena, "%s/%s", dir, u->file[i].name);
        if (strchr(u->file[i].name, '/'))
            TRY(file_make_dirs(arena_strndup(u->arena, path, (size_t)(strrchr(path, '/') - path)),
                               d));
        TRY(file_write(path, u->file[i].text.data, u->file[i].text.length, d));
    }
    return ST_OK;
}
