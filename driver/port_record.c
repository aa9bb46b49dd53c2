/* port_record.c - see port_record.h. */
#include "port_record.h"

static void note(struct hd_record *r, enum hd_record_kind kind, uint64_t address, uint64_t value,
                 const void *host)
{
    if (r->n_calls < r->log_room)
        r->log[r->n_calls] = (struct hd_record_entry){
            .kind = kind, .address = address, .value = value, .host = host};
    r->n_calls++;
}

static uint32_t answer(struct hd_record *r, uint32_t offset)
{
    for (uint32_t i = 0; i < r->n_answers; i++) {
        struct hd_record_answer *a = &r->answers[i];

        if (a->offset != offset || a->count == UINT32_MAX)
            continue;
        if (a->count && --a->count == 0)
            a->count = UINT32_MAX; /* used up */
        return a->value;
    }
    return 0;
}

static uint32_t record_read32(void *ctx, uint32_t offset)
{
    uint32_t value = answer(ctx, offset);

    note(ctx, HD_RECORD_READ, offset, value, NULL);
    return value;
}

static void record_write32(void *ctx, uint32_t offset, uint32_t value)
{
    note(ctx, HD_RECORD_WRITE, offset, value, NULL);
}

static int record_to_device(void *ctx, uint64_t device, const void *host, size_t n_bytes)
{
    struct hd_record *r = ctx;

    note(r, HD_RECORD_TO_DEVICE, device, n_bytes, host);
    return r->copy_result;
}

static int record_from_device(void *ctx, void *host, uint64_t device, size_t n_bytes)
{
    struct hd_record *r = ctx;

    note(r, HD_RECORD_FROM_DEVICE, device, n_bytes, host);
    return r->copy_result;
}

static int record_wait_irq(void *ctx, uint64_t max_cycles)
{
    struct hd_record *r = ctx;

    note(r, HD_RECORD_WAIT_IRQ, 0, max_cycles, NULL);
    return r->irq_result;
}

static void record_relax(void *ctx, uint32_t cycles)
{
    struct hd_record *r = ctx;

    r->cycles += cycles;
    note(r, HD_RECORD_RELAX, 0, cycles, NULL);
}

static void record_clean(void *ctx, const void *host, size_t n_bytes)
{
    note(ctx, HD_RECORD_CLEAN, 0, n_bytes, host);
}

static void record_invalidate(void *ctx, void *host, size_t n_bytes)
{
    note(ctx, HD_RECORD_INVALIDATE, 0, n_bytes, host);
}

void hd_record_port(struct hd_record *r, struct hd_port *port)
{
    *port = (struct hd_port){.ctx = r,
                             .read32 = record_read32,
                             .write32 = record_write32,
                             .to_device = record_to_device,
                             .from_device = record_from_device,
                             .wait_irq = record_wait_irq,
                             .relax = record_relax,
                             .clean = record_clean,
                             .invalidate = record_invalidate};
}

const struct hd_record_entry *hd_record_last(const struct hd_record *r, enum hd_record_kind kind,
                                             uint64_t address)
{
    uint32_t n = r->n_calls < r->log_room ? r->n_calls : r->log_room;

    while (n-- > 0)
        if (r->log[n].kind == kind && (address == UINT64_MAX || r->log[n].address == address))
            return &r->log[n];
    return NULL;
}

uint32_t hd_record_count(const struct hd_record *r, enum hd_record_kind kind, uint64_t address)
{
    uint32_t n = r->n_calls < r->log_room ? r->n_calls : r->log_room, count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += r->log[i].kind == kind && (address == UINT64_MAX || r->log[i].address == address);
    return count;
}
