/* same_cycles.c - see same_cycles.h. Fields whose values change no cycle are set to 0 in a copy of each command, by
 * name; a field that is added later counts until it is listed here. */
#include "same_cycles.h"

#include <string.h>

#include "hd_accel.h"

enum { PAGE = 4096, ROWS = 65536 };

union command {
    uint32_t word[64];
    struct hd_common common;
    struct hd_cmd_dma_read read;
    struct hd_cmd_array array;
    struct hd_cmd_vector vector;
    struct hd_cmd_store store;
};

static uint32_t in_page(const struct key_stream *s, uint32_t region, uint32_t offset)
{
    return (uint32_t)((s->base[region] + offset) % PAGE);
}

static void strip_array(struct hd_cmd_array *c)
{
    c->z_in = c->z_w = c->z_out = c->act_min = c->act_max = c->shift = 0;
    c->multiplier = 0;
}

static void strip_vector(struct hd_cmd_vector *c)
{
    c->z_a = c->z_b = c->z_out = c->act_min = c->act_max = 0;
    c->shift_a = c->shift_b = c->shift_out = 0;
    c->multiplier_a = c->multiplier_b = c->multiplier_out = 0;
}

static void strip(const struct key_stream *s, union command *c)
{
    switch (c->common.opcode) {
    case HD_OPCODE_LOAD:
    case HD_OPCODE_WEIGHT:
        if (!c->read.spad) {
            c->read.offset = in_page(s, c->read.region, c->read.offset);
            c->read.region = 0;
        }
        break;
    case HD_OPCODE_STORE:
        c->store.offset = in_page(s, c->store.region, c->store.offset);
        c->store.region = 0;
        break;
    case HD_OPCODE_ARRAY: strip_array(&c->array); break;
    case HD_OPCODE_VECTOR: strip_vector(&c->vector); break;
    default: break;
    }
}

static void number_layer(struct key_stream *s, union command *c)
{
    uint32_t *const n = &s->number[c->common.layer];

    if (*n == 0) {
        s->layer[s->n_layer] = c->common.layer;
        *n = ++s->n_layer;
    }
    c->common.layer = (*n - 1) & 0xffff;
}

static void hash_commands(struct hash128 *h, struct key_stream *s)
{
    uint32_t at = sizeof(struct hd_header);

    while (at + sizeof(struct hd_common) <= s->n_bytes) {
        union command c = {{0}};
        uint32_t n;

        memcpy(&c, s->bytes + at, sizeof(struct hd_common));
        n = c.common.length * 16u;
        if (n < sizeof c.common || n > sizeof c || n > s->n_bytes - at)
            break;
        memcpy(&c, s->bytes + at, n);
        number_layer(s, &c);
        strip(s, &c);
        hash_bytes(h, &c, n);
        at += n;
    }
    hash_bytes(h, s->bytes + at, s->n_bytes - at); /* nothing, in a stream that is well-formed */
}

struct hash128 key_cycles(struct arena *a, const char *source_hash, uint32_t config_hash,
                          const struct hd_sim_options *o, struct key_stream *s)
{
    const uint32_t facts[] = {HD_SIM_ABI,         config_hash, o->latency,
                              o->bytes_per_cycle, s->n_bytes,  (uint32_t)(s->address % PAGE)};
    struct hash128 h;

    s->n_layer = 0;
    s->layer = ARENA_ARRAY(a, uint32_t, ROWS);
    s->number = ARENA_ARRAY(a, uint32_t, ROWS);
    hash_init(&h);
    hash_string(&h, source_hash);
    hash_bytes(&h, facts, sizeof facts);
    if (s->n_bytes >= sizeof(struct hd_header))
        hash_commands(&h, s);
    return h;
}
