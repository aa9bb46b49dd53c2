/* iss_csr.c - machine-mode control registers, traps, and the owner of the running code. There is no
 * other mode: mstatus.MPP reads as 3. Registers that a hart may lack (counters 3 to 31, protection)
 * are illegal to access. */
#include "iss_csr.h"

#define MSTATUS_MIE  0x8u
#define MSTATUS_MPIE 0x80u
#define MSTATUS_MPP  0x1800u
#define IRQ_MASK     (1u << ISS_IRQ_SOFTWARE | 1u << ISS_IRQ_TIMER | 1u << ISS_IRQ_EXTERNAL)
#define MISA         0x40001100u /* RV32IM */
#define INTERRUPT    0x80000000u

static void set_low(uint64_t *base, uint64_t counter, uint32_t value)
{
    const uint64_t now = counter - *base;

    *base = counter - ((now >> 32 << 32) | value);
}

static void set_high(uint64_t *base, uint64_t counter, uint32_t value)
{
    const uint64_t now = counter - *base;

    *base = counter - ((uint64_t)value << 32 | (uint32_t)now);
}

static bool read_csr(const struct iss *c, uint32_t number, uint32_t *value)
{
    const uint64_t cycles = c->cycles - c->mcycle_base,
                   instructions = c->instructions - c->minstret_base;

    switch (number) {
    case 0x300: *value = c->mstatus | MSTATUS_MPP; break;
    case 0x301: *value = MISA; break;
    case 0x304: *value = c->mie; break;
    case 0x305: *value = c->mtvec; break;
    case 0x340: *value = c->mscratch; break;
    case 0x341: *value = c->mepc; break;
    case 0x342: *value = c->mcause; break;
    case 0x343: *value = c->mtval; break;
    case 0x344: *value = c->mip; break;
    case 0xb00:
    case 0xc00: *value = (uint32_t)cycles; break;
    case 0xb80:
    case 0xc80: *value = (uint32_t)(cycles >> 32); break;
    case 0xb02:
    case 0xc02: *value = (uint32_t)instructions; break;
    case 0xb82:
    case 0xc82: *value = (uint32_t)(instructions >> 32); break;
    case 0x310: /* mstatush */
    case 0xf11: /* mvendorid */
    case 0xf12: /* marchid */
    case 0xf13: /* mimpid */
    case 0xf14: /* mhartid */
    case 0xf15: /* mconfigptr */ *value = 0; break;
    default: return false;
    }
    return true;
}

/* Write a control register. Bits that it lacks are ignored. Pending interrupts follow the lines. */
static void write_csr(struct iss *c, uint32_t number, uint32_t value)
{
    switch (number) {
    case 0x300: c->mstatus = value & (MSTATUS_MIE | MSTATUS_MPIE); break;
    case 0x304: c->mie = value & IRQ_MASK; break;
    case 0x305: c->mtvec = value & ~2u; break;
    case 0x340: c->mscratch = value; break;
    case 0x341: c->mepc = value & ~3u; break;
    case 0x342: c->mcause = value; break;
    case 0x343: c->mtval = value; break;
    case 0xb00: set_low(&c->mcycle_base, c->cycles, value); break;
    case 0xb80: set_high(&c->mcycle_base, c->cycles, value); break;
    case 0xb02: set_low(&c->minstret_base, c->instructions, value); break;
    case 0xb82: set_high(&c->minstret_base, c->instructions, value); break;
    default: break;
    }
    c->attend = true;
}

bool iss_csr_execute(struct iss *c, uint32_t word)
{
    const uint32_t number = word >> 20, rd = word >> 7 & 31, rs1 = word >> 15 & 31;
    const uint32_t funct3 = word >> 12 & 7, operand = funct3 & 4 ? rs1 : c->x[rs1];
    const bool writes = (funct3 & 3) == 1 || rs1 != 0;
    uint32_t old;

    if (!read_csr(c, number, &old) || (writes && number >> 10 == 3))
        return false;
    if (writes)
        write_csr(c, number,
                  (funct3 & 3) == 1   ? operand
                  : (funct3 & 3) == 2 ? old | operand
                                      : old & ~operand);
    if (rd != 0)
        c->x[rd] = old;
    return true;
}

void iss_spend(struct iss *c)
{
    c->spent[c->in] += c->cycles - c->spent_at;
    c->spent_at = c->cycles;
}

void iss_entered(struct iss *c, uint32_t from)
{
    const uint32_t offset = c->pc - c->code_base;

    if (offset < c->code_bytes && c->owner[offset / 4] != c->in) {
        iss_spend(c);
        if (c->left != NULL)
            c->left(c->left_ctx, c->in, from);
        c->in = c->owner[offset / 4];
    }
}

void iss_trap(struct iss *c, uint32_t cause, uint32_t value)
{
    const uint32_t base = c->mtvec & ~3u;
    const bool vectored = (c->mtvec & 1) && (cause & INTERRUPT);

    c->mepc = c->pc;
    c->mcause = cause;
    c->mtval = value;
    if (c->mtvec == 0 || (c->stop_at_traps && !(cause & INTERRUPT))) {
        c->stopped = true;
        return;
    }
    c->mstatus = c->mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0;
    c->pc = vectored ? base + 4 * (cause & ~INTERRUPT) : base;
    c->cycles += c->cost.taken;
    iss_entered(c, c->mepc);
}

void iss_interrupt(struct iss *c)
{
    static const enum iss_irq order[] = {ISS_IRQ_EXTERNAL, ISS_IRQ_SOFTWARE, ISS_IRQ_TIMER};
    const uint32_t pending = c->mip & c->mie;

    c->attend = false;
    if (!(c->mstatus & MSTATUS_MIE))
        return;
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++)
        if (pending >> order[i] & 1) {
            iss_trap(c, INTERRUPT | (uint32_t)order[i], 0);
            return;
        }
}

void iss_mret(struct iss *c)
{
    const uint32_t from = c->pc;

    c->mstatus = MSTATUS_MPIE | (c->mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0);
    c->pc = c->mepc;
    c->cycles += c->cost.taken;
    iss_entered(c, from);
    c->attend = true;
}
