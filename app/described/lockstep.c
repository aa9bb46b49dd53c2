/* lockstep.c - see lockstep.h. */
#include "lockstep.h"

#include <string.h>

#include "base/text.h"

static uint32_t bytes_of(const struct lockstep *l, uint32_t memory)
{
    return l->described->memory[memory].bytes;
}

static uint8_t *model_of(const struct lockstep *l, uint32_t memory)
{
    return l->model.model + l->model.memory_at[memory];
}

static enum status find_array(struct lockstep *l, const struct target *target, uint32_t memory,
                              struct diag *d)
{
    const struct described_memory *const m = &l->described->memory[memory];
    const struct sim_port *const sim = &l->core->sim;
    uint64_t n_bytes = 0;

    if (!m->array)
        return ST_OK;
    l->chip[memory] = sim->api->array(sim->sim, m->array, &n_bytes);
    if (!l->chip[memory])
        return FAIL(d, ST_USAGE,
                    "target %s: memory '%s': expected an array '%s' in %s, of one dimension, with "
                    "entries of 8, 16, 32 or a multiple of 32 bits; found none",
                    target->name, m->name, m->array, l->core->verilog.top);
    if (n_bytes < m->bytes)
        return FAIL(d, ST_USAGE,
                    "target %s: memory '%s': expected at least %u bytes in array '%s' of %s, found "
                    "%llu",
                    target->name, m->name, m->bytes, m->array, l->core->verilog.top,
                    (unsigned long long)n_bytes);
    return ST_OK;
}

enum status lockstep_open(struct lockstep *l, struct arena *a, const struct target *target,
                          struct core *core, struct diag *d)
{
    const struct described_device *const of = target->desc->detail->device;
    const uint32_t last = of->n_memory - 1;

    *l = (struct lockstep){.arena = a, .described = of, .core = core, .model = described_hdk(of)};
    l->model.model = arena_alloc(a, l->model.memory_at[last] + of->memory[last].bytes);
    l->chip[0] = core->opened.memory;
    for (uint32_t i = 1; i < of->n_memory; i++)
        TRY(find_array(l, target, i, d));
    return ST_OK;
}

bool lockstep_sees(const struct lockstep *l, enum hdk_role role)
{
    const struct hdk_instruction *const of = &l->model.instruction[role];

    return l->chip[of->from] && l->chip[of->with] && l->chip[of->to] &&
           (l->described->instruction[l->described->role[role]].does != DESCRIBED_LAYER ||
            l->chip[l->model.instruction[HDK_CHANNELS_IN].to]);
}

static void compare(struct lockstep *l, const struct hdk_issue *i)
{
    for (uint32_t m = 0; m < l->described->n_memory; m++) {
        const uint8_t *const want = model_of(l, m), *const got = l->chip[m];

        if (!got || memcmp(want, got, bytes_of(l, m)) == 0)
            continue;
        for (uint32_t at = bytes_of(l, m); at-- > 0;)
            if (want[at] != got[at]) {
                if (!l->found || l->memory == m) {
                    l->found = true;
                    l->memory = m;
                    l->at = at;
                    l->expected = want[at];
                    l->got = got[at];
                }
                l->differ++;
            }
    }
    if (l->found) {
        l->wrong = *i;
        l->wrong_number = l->number;
    }
}

int lockstep_step(struct lockstep *l, const struct hdk_device *device, const struct hdk_issue *i,
                  uint32_t n, uint32_t number)
{
    const struct hd_port *const port = &l->core->port;
    int rc = 0;

    l->number++;
    for (uint32_t m = 0; !l->found && m < l->described->n_memory; m++)
        if (l->chip[m])
            memcpy(model_of(l, m), l->chip[m], bytes_of(l, m));
    for (uint32_t k = 0; k < n && rc == 0; k++)
        rc = device->instruction[i[k].role].issue(port, &i[k]);
    if (rc == 0)
        rc = device->wait(port, device->instruction[i[n - 1].role].unit, number);
    if (rc != 0 || l->found)
        return rc;
    for (uint32_t k = 0; k < n; k++)
        hdk_meaning(&l->model, &i[k]);
    compare(l, &i[n - 1]);
    return 0;
}

const char *lockstep_instruction_text(struct lockstep *l, const struct hdk_issue *i)
{
    const struct described_instruction *const of = described_of(l->described, i->role);
    static const char *const kinds[] = {" of a convolution", " of an addition", " of a pool",
                                        " of a depthwise convolution"};
    uint32_t number[DESCRIBED_FIELDS];
    struct text t;
    bool any = false;

    text_init(&t, l->arena);
    text_printf(&t, "%s%s (", of->name, of->does == DESCRIBED_LAYER ? kinds[i->kind] : "");
    described_numbers(i, number);
    for (uint32_t f = 0; f < DESCRIBED_FIELDS; f++)
        if (of->field[f].bits) {
            const bool place =
                f == FIELD_FROM || f == FIELD_WITH || f == FIELD_TO || f == FIELD_CHANNELS;

            text_printf(&t, place ? "%s%s 0x%x" : "%s%s %u", any ? ", " : "", described_fields[f],
                        number[f]);
            any = true;
        }
    if (of->does == DESCRIBED_SCALE)
        text_printf(&t, ", zero %d, multiplier %d, shift %d", i->zero, i->multiplier, i->shift);
    if (of->does == DESCRIBED_PRODUCT || of->does == DESCRIBED_SCALE)
        text_printf(&t, ", add %u", i->add);
    for (uint32_t k = 0; k < 2 && of->does == DESCRIBED_LAYER && i->kind == HDK_LAYER_ADD; k++)
        text_printf(&t, ", operand %u zero %d, multiplier %d, shift %d", k, i->operand[k].zero,
                    i->operand[k].multiplier, i->operand[k].shift);
    if (of->does == DESCRIBED_REQUANTISE || of->does == DESCRIBED_LAYER)
        text_printf(&t, ", zero %d, low %d, high %d", i->zero, i->low, i->high);
    text_add(&t, ")");
    return t.data;
}

const char *lockstep_bytes_text(struct lockstep *l)
{
    return arena_printf(l->arena,
                        "%s 0x%x: expected 0x%02x (%d), found 0x%02x (%d); %llu byte%s differ%s",
                        l->described->memory[l->memory].name, l->at, l->expected,
                        (int8_t)l->expected, l->got, (int8_t)l->got, (unsigned long long)l->differ,
                        l->differ == 1 ? "" : "s", l->differ == 1 ? "s" : "");
}
