/* plant.c - see plant.h. */
#include "plant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "driver/hd_crc.h"
#include "hd_accel_tables.h"

const char *const fault_names[FAULT_KINDS] = {
    "constant byte replaced", "constant bytes exchanged", "constant byte plus 1", "command field",
    "host argument",
};

/* A number in model.c: bytes [at, at + length). */
struct number {
    uint32_t at, length;
};

/* The places from which faults are drawn. */
struct pool {
    const struct sched_program *p;
    const uint8_t *constants;
    uint32_t n_constant, n_command, n_number;
    const char *source;
    struct number *number;
    uint64_t state;
};

static uint32_t draw(struct pool *p, uint32_t n)
{
    return (uint32_t)((random_next(&p->state) >> 32) * n >> 32);
}

/* --- arguments of host calls --- */

static const char *model_source(const struct emit_unit *u)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (strcmp(u->file[i].name, "model.c") == 0)
            return u->file[i].text.data;
    return "";
}

/* Return true if *c, after the first character of a word, belongs to that identifier or number. In
 * 1e-6 the sign belongs to it. */
static bool in_word(const char *word, const char *c)
{
    const bool hex = word[0] == '0' && word[1] == 'x';

    return isalnum((unsigned char)*c) || *c == '_' || *c == '.' ||
           ((*c == '-' || *c == '+') && c > word && isdigit((unsigned char)*word) &&
            (c[-1] == (hex ? 'p' : 'e')));
}

/* Record the numbers in [from, to); number NULL: only count them. */
static uint32_t numbers_between(const char *source, const char *from, const char *to,
                                struct number *number)
{
    uint32_t n = 0;

    for (const char *at = from, *end; at < to; at = end) {
        for (end = at; end < to && in_word(at, end); end++)
            continue;
        if (end > at && isdigit((unsigned char)*at)) {
            if (number)
                number[n] = (struct number){(uint32_t)(at - source), (uint32_t)(end - at)};
            n++;
        }
        end += end == at;
    }
    return n;
}

/* Find numbers in kernels' parameters and calls: "hdk_mul l03_mul_3 = {...};" and
 * "hdk_mul(...);". */
static uint32_t find_numbers(const char *source, struct number *number)
{
    uint32_t n = 0;

    for (const char *at = source; (at = strstr(at, "hdk_")) != NULL;) {
        const char *end = strchr(at, ';');
        if (!end)
            break;
        n += numbers_between(source, at, end, number ? number + n : NULL);
        at = end;
    }
    return n;
}

/* --- commands --- */

/* Return command `index` of the program, its stream and its offset within all commands. */
static const struct sched_command *command_at(const struct sched_program *p, uint32_t index,
                                              struct fault *f)
{
    for (f->stream = 0; index >= p->stream[f->stream].n; f->stream++)
        index -= p->stream[f->stream].n;
    const struct sched_stream *s = &p->stream[f->stream];

    f->at = s->offset + (uint32_t)sizeof(struct hd_header);
    for (uint32_t i = 0; i < index; i++)
        f->at += s->cmd[i].w.common.length * HD_COMMAND_ALIGN;
    return &s->cmd[index];
}

static bool draw_field(struct pool *p, struct fault *f)
{
    const struct sched_command *c = command_at(p->p, draw(p, p->n_command), f);
    const struct hd_command_info *info = hd_command_of_opcode[c->w.common.opcode];

    if (!info || info->n_fields == 0)
        return false; /* END */
    f->field = draw(p, info->n_fields);
    const struct hd_field_info *field = &info->fields[f->field];
    const int64_t v = hd_field_get(c->w.word, field);
    switch (draw(p, 3)) {
    case 0: f->change = v + 1; break;
    case 1: f->change = v - 1; break;
    default: f->change = v ^ (int64_t)1 << draw(p, field->bits);
    }
    return hd_field_fits(field, f->change);
}

/* --- the plan --- */

static bool draw_constant(struct pool *p, struct fault *f)
{
    const bool exchange = f->kind == FAULT_EXCHANGE;

    if (p->n_constant < 2)
        return false;
    f->at = draw(p, p->n_constant - exchange);
    const uint8_t old = p->constants[f->at];
    f->change = exchange                    ? p->constants[f->at + 1]
                : f->kind == FAULT_PLUS_ONE ? (uint8_t)(old + 1)
                                            : (uint8_t)draw(p, 256);
    return f->change != old;
}

static bool draw_argument(struct pool *p, struct fault *f)
{
    static const int64_t changes[] = {1, -1, 2, 16};

    f->at = draw(p, p->n_number);
    f->change = changes[draw(p, 4)];
    return true;
}

static bool draw_fault(struct pool *p, enum fault_kind kind, struct fault *f)
{
    *f = (struct fault){.kind = kind};
    if (kind == FAULT_FIELD)
        return draw_field(p, f);
    if (kind == FAULT_SWAP) {
        const struct sched_command *c = command_at(p->p, draw(p, p->n_command), f);
        return hd_command_of_opcode[c[0].w.common.opcode]->n_fields &&
               hd_command_of_opcode[c[1].w.common.opcode]->n_fields;
    }
    return kind == FAULT_ARGUMENT ? draw_argument(p, f) : draw_constant(p, f);
}

static bool same(const struct fault *a, const struct fault *b)
{
    return a->kind == b->kind && a->at == b->at && a->field == b->field && a->change == b->change;
}

/* Add up to `n` different faults of a kind to the existing ones. */
static uint32_t add_kind(struct pool *p, enum fault_kind kind, uint32_t n, struct fault *all,
                         uint32_t have)
{
    const uint32_t end = have + n;

    for (uint32_t tries = 0; have < end && tries < 64 * n; tries++) {
        bool known = !draw_fault(p, kind, &all[have]);
        for (uint32_t i = 0; i < have && !known; i++)
            known = same(&all[i], &all[have]);
        have += !known;
    }
    return have;
}

uint32_t fault_plan(struct arena *a, const struct emit_unit *u, uint64_t seed, uint32_t n,
                    struct fault *fault)
{
    struct pool p = {.p = u->program,
                     .constants = (const uint8_t *)u->program->constants.data,
                     .n_constant = (uint32_t)u->program->constants.length,
                     .source = model_source(u),
                     .state = seed};
    uint32_t have = 0, arguments, fields;

    p.n_number = find_numbers(p.source, NULL);
    p.number = ARENA_ARRAY(a, struct number, p.n_number + 1);
    for (uint32_t k = 0; k < u->program->n_stream; k++)
        p.n_command += u->program->stream[k].n;
    arguments = least(n / 4, least(p.n_number, FAULT_MAX_ARGUMENTS));
    fields = p.n_command ? n / 2 - arguments : 0;
    if (arguments)
        have = add_kind(&p, FAULT_ARGUMENT, arguments, fault, have);
    if (fields)
        have = add_kind(&p, FAULT_FIELD, fields, fault, have);
    for (uint32_t kind = FAULT_BYTE; kind <= FAULT_PLUS_ONE; kind++)
        have = add_kind(&p, kind, (n - have) / (FAULT_PLUS_ONE + 1 - kind), fault, have);
    return have;
}

uint32_t fault_swaps(const struct emit_unit *u, uint64_t seed, uint32_t n, struct fault *fault)
{
    struct pool p = {.p = u->program, .state = seed};

    for (uint32_t k = 0; k < u->program->n_stream; k++)
        p.n_command += u->program->stream[k].n;
    return p.n_command ? add_kind(&p, FAULT_SWAP, n, fault, 0) : 0;
}

const struct sched_command *fault_swapped(const struct sched_program *p, const struct fault *f)
{
    struct fault at;

    for (uint32_t i = 0;; i++) {
        const struct sched_command *c = command_at(p, i, &at);
        if (at.at == f->at)
            return c;
    }
}

/* --- changes that nothing reads --- */

/* Return true if the command fetches byte `at` of the constants. If runs are closer than a run's
 * length, all bytes in between count. */
static bool fetches(const struct sched_command *c, uint32_t at)
{
    const struct hd_cmd_dma_read *m = &c->w.dma_read;

    if ((c->unit != HD_UNIT_LOAD && c->unit != HD_UNIT_WEIGHT) || m->spad ||
        m->region != HD_REGION_CONSTANTS || at < m->offset)
        return false;
    const uint32_t from = at - m->offset;
    if (from >= (m->runs - 1) * (uint64_t)m->run_pitch + m->run_bytes)
        return false;
    return m->run_pitch < m->run_bytes || from % m->run_pitch < m->run_bytes;
}

static bool byte_unread(const struct emit_unit *u, uint32_t at)
{
    const struct sched_program *p = u->program;

    for (uint32_t i = 0; i < u->graph->n_tensor; i++) {
        const struct sched_place *s = &p->place[i];
        if (u->graph->tensor[i]->role == IR_CONST && s->in_memory && at >= s->mem_offset &&
            at - s->mem_offset < s->mem_bytes)
            return false;
    }
    for (uint32_t k = 0; k < p->n_stream; k++)
        for (uint32_t i = 0; i < p->stream[k].n; i++)
            if (fetches(&p->stream[k].cmd[i], at))
                return false;
    return !strstr(model_source(u), "model_constants +");
}

static bool field_unread(const struct emit_unit *u, const struct fault *f)
{
    struct fault at = *f;
    const struct sched_command *c = NULL;

    for (uint32_t i = 0; !c || at.at != f->at; i++)
        c = command_at(u->program, i, &at);
    const char *name = hd_command_of_opcode[c->w.common.opcode]->fields[f->field].name;
    if (c->unit == HD_UNIT_LOAD || c->unit == HD_UNIT_WEIGHT)
        return (c->w.dma_read.runs == 1 && strcmp(name, "run_pitch") == 0) ||
               (c->w.dma_read.rows == 1 && strcmp(name, "dest_pitch") == 0);
    if (c->unit == HD_UNIT_STORE)
        return (c->w.store.runs == 1 && strcmp(name, "run_pitch") == 0) ||
               (c->w.store.rows == 1 && strcmp(name, "src_pitch") == 0);
    return false;
}

bool fault_unread(const struct emit_unit *u, const struct fault *f)
{
    if (f->kind == FAULT_ARGUMENT || f->kind == FAULT_SWAP)
        return false;
    if (f->kind == FAULT_FIELD)
        return field_unread(u, f);
    return byte_unread(u, f->at) && (f->kind != FAULT_EXCHANGE || byte_unread(u, f->at + 1));
}

/* --- apply a fault --- */

static void set_crc(const struct sched_stream *s, uint8_t *commands)
{
    uint8_t *stream = commands + s->offset;
    struct hd_header header;

    memcpy(&header, stream, sizeof header);
    header.crc = hd_stream_crc(stream, s->n_bytes);
    memcpy(stream, &header, sizeof header);
}

static void swap(const struct sched_command *c, uint8_t *at)
{
    const size_t n = c[0].w.common.length * (size_t)HD_COMMAND_ALIGN,
                 m = c[1].w.common.length * (size_t)HD_COMMAND_ALIGN;
    union sched_words first;

    memcpy(first.word, at, n);
    memmove(at, at + n, m);
    memcpy(at + m, first.word, n);
}

void fault_apply(const struct fault *f, const struct sched_program *p, uint8_t *constants,
                 uint8_t *commands)
{
    if (f->kind == FAULT_FIELD) {
        union sched_words w;

        memcpy(&w.common, commands + f->at, sizeof w.common);
        const size_t n = w.common.length * (size_t)HD_COMMAND_ALIGN;
        memcpy(w.word, commands + f->at, n);
        (void)hd_field_set(w.word, &hd_command_of_opcode[w.common.opcode]->fields[f->field],
                           f->change);
        memcpy(commands + f->at, w.word, n);
        set_crc(&p->stream[f->stream], commands);
        return;
    }
    if (f->kind == FAULT_SWAP) {
        swap(fault_swapped(p, f), commands + f->at);
        set_crc(&p->stream[f->stream], commands);
        return;
    }
    if (f->kind == FAULT_EXCHANGE)
        constants[f->at + 1] = constants[f->at];
    constants[f->at] = (uint8_t)f->change;
}

/* Return the number that a fault of a host argument changes. */
static struct number number_of(struct arena *a, const char *source, const struct fault *f)
{
    struct number *number = ARENA_ARRAY(a, struct number, find_numbers(source, NULL) + 1);

    (void)find_numbers(source, number);
    return number[f->at];
}

const char *fault_source(struct arena *a, const struct emit_unit *u, const struct fault *f,
                         const char *symbol)
{
    const char *source = model_source(u);
    const struct number n = number_of(a, source, f);

    return arena_printf(a, "#define hd_model %s\n%.*s(%.*s + %lld)%s", symbol, (int)n.at, source,
                        (int)n.length, source + n.at, (long long)f->change,
                        source + n.at + n.length);
}

const char *fault_text(struct arena *a, const struct emit_unit *u, const struct fault *f)
{
    const char *source = model_source(u);
    struct fault at = *f;

    if (f->kind == FAULT_ARGUMENT) {
        const struct number n = number_of(a, source, f);
        uint32_t line = 1;
        for (uint32_t i = 0; i < n.at; i++)
            line += source[i] == '\n';
        return arena_printf(a, "%s: model.c line %u: %.*s + %lld", fault_names[f->kind], line,
                            (int)n.length, source + n.at, (long long)f->change);
    }
    if (f->kind == FAULT_SWAP) {
        const struct sched_command *c = fault_swapped(u->program, f);
        return arena_printf(a, "commands exchanged: %s at 0x%x, %s, and the %s after it",
                            hd_command_of_opcode[c[0].w.common.opcode]->name, f->at,
                            u->graph->row[c->row].name,
                            hd_command_of_opcode[c[1].w.common.opcode]->name);
    }
    if (f->kind != FAULT_FIELD)
        return arena_printf(a, "%s: 0x%x: %u, was %u", fault_names[f->kind], f->at,
                            (unsigned)f->change, (uint8_t)u->program->constants.data[f->at]);
    for (uint32_t i = 0;; i++) {
        const struct sched_command *c = command_at(u->program, i, &at);
        const struct hd_command_info *info = hd_command_of_opcode[c->w.common.opcode];
        if (at.at == f->at)
            return arena_printf(a, "%s: %s of %s at 0x%x, %s: %lld, was %lld", fault_names[f->kind],
                                info->fields[f->field].name, info->name, f->at,
                                u->graph->row[c->row].name, (long long)f->change,
                                (long long)hd_field_get(c->w.word, &info->fields[f->field]));
    }
}
