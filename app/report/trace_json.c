/* trace_json.c - write a trace in Chrome's trace format, which https://ui.perfetto.dev opens. A
 * microsecond in the file is a cycle. A process is an accelerator, a thread one of its units; the
 * first process also has the host and the cores of targets. */
#include "trace_json.h"
#include "hd_accel_tables.h"
#include "run_trace.h"

static const struct {
    const char *name, *unit;
} counters[TRACE_COUNTERS] = {
    {"bus, bytes read a cycle", "bytes"},
    {"bus, bytes written a cycle", "bytes"},
    {"scratchpad, bytes in use", "bytes"},
};

/* Add an event. All but the first begin with the comma that follows the previous one. */
static void add_name(struct text *o, const char *what, uint32_t process, uint32_t thread,
                     const char *name)
{
    text_printf(o,
                ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
                process, thread);
    text_add_json(o, name);
    text_add(o, "}}");
}

static void add_names(const struct trace *t, struct text *o)
{
    bool core = false;

    for (uint32_t i = 0; i < t->n_slice; i++)
        core = core || t->slice[i].track == trace_host(t) + 1;
    text_add(o, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":"
                "{\"name\":\"host\"}}");
    add_name(o, "thread_name", 1, 1, "host");
    if (core)
        add_name(o, "thread_name", 1, 2, "core");
    for (uint32_t k = 0; k < t->n_device; k++) {
        add_name(o, "process_name", 2 + k, 0, t->device[k].name);
        for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
            add_name(o, "thread_name", 2 + k, 1 + u, hd_unit_names[u]);
    }
}

static void add_slice(const struct trace *t, const struct trace_slice *s, struct text *o)
{
    const bool unit = s->stream != IR_NONE;
    const uint32_t process = unit ? 2 + s->track / HD_UNIT_COUNT : 1,
                   thread = 1 + (unit ? s->track % HD_UNIT_COUNT : s->track - trace_host(t));

    text_add(o, ",\n{\"ph\":\"X\",\"name\":");
    text_add_json(o, t->p->graph->row[s->row].name);
    text_printf(o, ",\"pid\":%u,\"tid\":%u,\"ts\":%llu,\"dur\":%llu,\"args\":{\"layer\":%u",
                process, thread, (unsigned long long)s->begin,
                (unsigned long long)(s->end - s->begin), s->row);
    if (*s->note) {
        text_add(o, ",\"part\":");
        text_add_json(o, s->note);
    }
    if (unit)
        text_printf(o, ",\"submission\":%u,\"command\":%u,\"bus_bytes\":%llu", s->stream,
                    s->command, (unsigned long long)s->bytes);
    text_add(o, s->track == trace_host(t) && !t->simulated ? ",\"model\":true}}" : "}}");
}

static void add_counter(const struct trace *t, uint32_t device, uint32_t counter, struct text *o)
{
    for (uint32_t i = 0; i < t->device[device].n_point[counter]; i++) {
        const struct trace_point *p = &t->device[device].point[counter][i];
        text_printf(
            o, ",\n{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%u,\"ts\":%llu,\"args\":{\"%s\":%.6g}}",
            counters[counter].name, 2 + device, (unsigned long long)p->at, counters[counter].unit,
            p->value);
    }
}

void trace_json(const struct trace *t, struct text *o)
{
    text_add(o, "{\"otherData\":{\"schema\":\"heddle.trace.v1\",\"model\":");
    text_add_json(o, t->p->graph->name);
    text_printf(o,
                ",\"unit\":\"1 us = 1 cycle\",\"cycles\":%llu,\"host\":\"%s\"},\n"
                "\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n",
                (unsigned long long)t->cycles, t->simulated ? "simulated" : "estimate");
    add_names(t, o);
    for (uint32_t i = 0; i < t->n_slice; i++)
        add_slice(t, &t->slice[i], o);
    for (uint32_t k = 0; k < t->n_device; k++)
        for (uint32_t c = 0; c < TRACE_COUNTERS; c++)
            add_counter(t, k, c, o);
    text_add(o, "\n]}\n");
}
