/* disasm.c - command streams as text: heddle disasm, messages, dumps. */
#include "disasm.h"

#include "hd_accel_tables.h"

static void add_fields(struct text *t, const uint32_t *words, const struct hd_field_info *f,
                       uint32_t n, uint32_t skip)
{
    for (uint32_t i = skip; i < n; i++) {
        int64_t v = hd_field_get(words, &f[i]);
        if (v == 0)
            continue;
        if (f[i].values && v > 0 && (uint64_t)v < f[i].values->n_values)
            text_printf(t, " %s=%s", f[i].name, f[i].values->values[v]);
        else
            text_printf(t, " %s=%lld", f[i].name, (long long)v);
    }
}

static void add_waits(struct text *t, const struct hd_common *w)
{
    const uint32_t need[5] = {w->wait_load, w->wait_weight, w->wait_array, w->wait_vector,
                              w->wait_store};
    const char *between = " [waits ";

    for (uint32_t u = 0; u < 5; u++)
        if (w->wait_enable >> u & 1u) {
            text_printf(t, "%s%s %u", between, hd_unit_names[u], need[u]);
            between = ", ";
        }
    if (w->wait_enable)
        text_add(t, "]");
}

void sched_print_command(const struct sched_program *p, const struct sched_command *c,
                         struct text *t)
{
    const struct hd_command_info *info = hd_command_of_opcode[c->w.common.opcode];

    text_printf(t, "%-6s %-24s", hd_opcode_names[c->w.common.opcode], p->graph->row[c->row].name);
    if (c->note)
        text_printf(t, " (%s)", c->note);
    add_waits(t, &c->w.common);
    add_fields(t, c->w.word, info->fields, info->n_fields, 0);
}

void sched_print(const struct sched_program *p, struct text *t)
{
    for (uint32_t k = 0; k < p->n_stream; k++) {
        const struct sched_stream *s = &p->stream[k];
        text_printf(t, "submission %u", k);
        if (p->n_device > 1)
            text_printf(t, " on %s", p->device[s->device].hw->name);
        text_printf(t, ": %u commands, %u bytes at %u", s->n, s->n_bytes, s->offset);
        if (s->est_cycles)
            text_printf(t, ", about %llu cycles", (unsigned long long)s->est_cycles);
        text_add(t, "\n");
        for (uint32_t i = 0; i < s->n; i++) {
            text_printf(t, "%5u ", i);
            if (s->est_cycles)
                text_printf(t, "%9llu ", (unsigned long long)s->cmd[i].est_start);
            sched_print_command(p, &s->cmd[i], t);
            text_add(t, "\n");
        }
    }
}
