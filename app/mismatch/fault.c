/* fault.c - see fault.h. The network is imported again because passes change it in place. */
#include "fault.h"

#include "base/file.h"
#include "replay.h"

static enum status write_network(const struct pipeline *p, const char *path, struct diag *d)
{
    struct pipeline again = {
        .arena = p->arena, .options = p->options, .model = p->model, .hw = p->hw};
    struct text t;

    again.options.dump_ir = NULL;
    TRY(pipeline_run(&again, STEP_import, STEP_import, d));
    text_init(&t, p->arena);
    ir_print(again.graph, &t);
    return file_write(path, t.data, t.length, d);
}

void fault_report(const struct pipeline *p, const struct options *o, const char *path,
                  struct diag *d)
{
    struct diag why = {0};
    struct text t;

    if (!p->fault)
        return;
    if (write_network(p, path, &why) != ST_OK) {
        diag_line(d, "no file repeats it: %s", why.text);
        return;
    }
    text_init(&t, p->arena);
    replay_options(&t, o, p->arena);
    for (uint32_t i = 0; i < o->partition.n_offload; i++)
        text_printf(&t, " --offload=%s", text_shell_word(p->arena, o->offload[i]));
    for (uint32_t i = 0; i < o->partition.n_keep; i++)
        text_printf(&t, " --keep-on-host=%s", text_shell_word(p->arena, o->keep[i]));
    diag_line(d,
              "this repeats it; please report it with the file, which has the network's weights, "
              "and the version of heddle:");
    diag_line(d, "  heddle disasm %s%s", text_shell_word(p->arena, path), t.data ? t.data : "");
}
