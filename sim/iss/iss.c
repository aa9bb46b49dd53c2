/* iss.c - the hart's memory and its instructions; see iss.h. */
#include "iss.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "iss_csr.h"
#include "iss_decode.h"

const struct iss_cycles iss_five_stages = {.name = "five-stages",
                                           .fetch = 1,
                                           .load = 2,
                                           .multiply = 2,
                                           .divide = 33,
                                           .taken = 5,
                                           .jump = 5,
                                           .indirect = 5};

const struct iss_cycles iss_picorv32 = {
#include "picorv32.inc"
};

/* Subtract from the wait the cycles during which the next instruction is fetched. */
static uint8_t hide(uint8_t cycles, uint32_t wait)
{
    return (uint8_t)(cycles - (wait < cycles ? wait : cycles));
}

/* Return the cycles with one fetch per instruction and one access per load or store; the
 * instruction after a taken branch is fetched in vain. */
struct iss_cycles iss_with_memory(const struct iss_cycles *cost, uint32_t latency)
{
    const uint32_t wait = latency - 1;
    struct iss_cycles c = *cost;

    c.fetch = (uint8_t)(c.fetch + wait);
    c.load = (uint8_t)(c.load + wait);
    c.store = (uint8_t)(c.store + wait);
    c.custom = cost->system;
    c.taken = (uint8_t)(c.taken + wait);
    if (c.waits) {
        c.multiply = hide(c.multiply, wait);
        c.divide = hide(c.divide, wait);
        c.system = hide(c.system, wait);
        c.hidden = (uint8_t)wait;
    }
    return c;
}

struct iss *iss_new(struct arena *a, const struct iss_cycles *cost)
{
    struct iss *c = ARENA_NEW(a, struct iss);

    c->cost = *cost;
    return c;
}

/* --- memory --- */

static void add_region(struct iss *c, const struct iss_region *r)
{
    const uint64_t end = (uint64_t)r->base + r->n_bytes;

    assert(c->n_region < ISS_REGIONS && r->n_bytes >= 4 && end <= (uint64_t)1 << 32);
    for (uint32_t i = 0; i < c->n_region; i++)
        assert(end <= c->region[i].base ||
               r->base >= (uint64_t)c->region[i].base + c->region[i].n_bytes);
    (void)end;
    c->region[c->n_region++] = *r;
}

void iss_memory(struct iss *c, uint32_t base, uint32_t n_bytes, uint8_t *bytes, uint32_t wait)
{
    add_region(
        c, &(struct iss_region){.base = base, .n_bytes = n_bytes, .bytes = bytes, .wait = wait});
}

void iss_device(struct iss *c, uint32_t base, uint32_t n_bytes, const struct iss_device *device)
{
    add_region(c, &(struct iss_region){.base = base, .n_bytes = n_bytes, .device = device});
}

void iss_code(struct iss *c, struct arena *a, uint32_t base, uint32_t n_bytes)
{
    assert(base % 4 == 0 && n_bytes % 4 == 0);
    c->op = ARENA_ARRAY(a, struct iss_op, n_bytes / 4);
    c->owner = ARENA_ARRAY(a, uint8_t, n_bytes / 4);
    c->code_base = base;
    c->code_bytes = n_bytes;
}

const struct iss_region *iss_find(struct iss *c, uint32_t address, uint32_t n_bytes)
{
    for (uint32_t i = 0, k = c->last; i < c->n_region; i++) {
        const struct iss_region *const r = &c->region[k];
        const uint32_t offset = address - r->base;

        if (n_bytes <= r->n_bytes && offset <= r->n_bytes - n_bytes) {
            c->last = k;
            return r;
        }
        k = k + 1 == c->n_region ? 0 : k + 1;
    }
    return NULL;
}

uint8_t *iss_bytes(struct iss *c, uint32_t address, uint32_t n_bytes)
{
    const struct iss_region *const r = iss_find(c, address, n_bytes);

    return r != NULL && r->bytes != NULL ? r->bytes + (address - r->base) : NULL;
}

/* Load or store; both trap and return false if the access is misaligned or faults. */
static bool load(struct iss *c, uint32_t address, uint32_t n_bytes, uint32_t *value)
{
    const struct iss_region *const r = iss_find(c, address, n_bytes);

    *value = 0;
    if (address % n_bytes != 0) {
        iss_trap(c, ISS_LOAD_MISALIGNED, address);
        return false;
    }
    if (r != NULL && r->bytes != NULL) {
        memcpy(value, r->bytes + (address - r->base), n_bytes);
        c->cycles += r->wait;
        return true;
    }
    if (r != NULL && r->device->read(r->device->ctx, address - r->base, n_bytes, value)) {
        *value &= ~0u >> (32 - 8 * n_bytes);
        return true;
    }
    iss_trap(c, ISS_LOAD_FAULT, address);
    return false;
}

static bool store(struct iss *c, uint32_t address, uint32_t n_bytes, uint32_t value)
{
    const struct iss_region *const r = iss_find(c, address, n_bytes);

    if (address % n_bytes != 0) {
        iss_trap(c, ISS_STORE_MISALIGNED, address);
        return false;
    }
    if (r != NULL && r->bytes != NULL) {
        memcpy(r->bytes + (address - r->base), &value, n_bytes);
        c->cycles += r->wait;
        if (address - c->code_base < c->code_bytes)
            c->op[(address - c->code_base) / 4].kind = ISS_UNKNOWN;
        return true;
    }
    if (r != NULL && r->device->write(r->device->ctx, address - r->base, n_bytes, value))
        return true;
    iss_trap(c, ISS_STORE_FAULT, address);
    return false;
}

/* Return the instruction at pc, or NULL after a trap. */
static const struct iss_op *fetch(struct iss *c)
{
    const uint32_t offset = c->pc - c->code_base;
    const uint8_t *bytes;
    uint32_t word;

    if (offset < c->code_bytes) {
        struct iss_op *const op = &c->op[offset / 4];

        if (op->kind != ISS_UNKNOWN)
            return op;
        bytes = iss_bytes(c, c->pc, 4);
        if (bytes != NULL) {
            memcpy(&word, bytes, 4);
            *op = iss_decode(word);
            return op;
        }
    }
    iss_trap(c, ISS_FETCH_FAULT, c->pc);
    return NULL;
}

/* --- instructions --- */

static uint32_t high_signed(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

static uint32_t high_mixed(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)b) >> 32);
}

static uint32_t high_unsigned(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* Division by 0 and overflow have defined results and do not trap: volume I, table 7.1. */
static uint32_t divide(uint32_t a, uint32_t b)
{
    if (b == 0)
        return ~0u;
    return a == 0x80000000u && b == ~0u ? a : (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b)
{
    if (b == 0)
        return a;
    return a == 0x80000000u && b == ~0u ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

/* Continue at `target` after `more` cycles; false after a trap. */
static bool jump(struct iss *c, uint32_t target, uint8_t more)
{
    const uint32_t from = c->pc;

    if (target % 4 != 0) {
        iss_trap(c, ISS_FETCH_MISALIGNED, target);
        return false;
    }
    c->pc = target;
    c->cycles += more;
    iss_entered(c, from);
    return true;
}

/* Branch by `imm` if `taken`. */
static bool branch(struct iss *c, bool taken, uint32_t imm)
{
    if (taken)
        return jump(c, c->pc + imm, c->cost.taken);
    c->pc += 4;
    return true;
}

static void put(struct iss *c, uint32_t rd, uint32_t value, uint32_t late)
{
    c->x[rd] = value;
    c->ready[rd] = c->cycles + late;
    c->x[0] = 0;
    c->ready[0] = 0;
}

/* Write a result that is available `late` cycles after that of an addition. */
static void put_late(struct iss *c, uint32_t rd, uint32_t value, uint32_t late)
{
    if (c->cost.waits)
        c->cycles += late;
    put(c, rd, value, c->cost.waits ? 0 : late);
}

/* Jump, and put the address of the next instruction into `rd`. */
static bool link(struct iss *c, uint32_t rd, uint32_t target, uint8_t more)
{
    const uint32_t next = c->pc + 4;

    if (!jump(c, target, more))
        return false;
    put(c, rd, next, 0);
    return true;
}

/* Write a result that is available at once. */
static bool result(struct iss *c, uint32_t rd, uint32_t value)
{
    put(c, rd, value, 0);
    c->pc += 4;
    return true;
}

static bool multiplied(struct iss *c, uint32_t rd, uint32_t value)
{
    put_late(c, rd, value, c->cost.multiply);
    c->pc += 4;
    return true;
}

static bool divided(struct iss *c, uint32_t rd, uint32_t value)
{
    c->cycles += c->cost.divide;
    return result(c, rd, value);
}

/* Write the result of a load; bit `bits` - 1 is the sign, 0: unsigned. */
static bool loaded(struct iss *c, const struct iss_op *op, uint32_t n_bytes, uint32_t bits)
{
    const uint32_t sign = bits ? 1u << (bits - 1) : 0;
    uint32_t value;

    if (!load(c, c->x[op->rs1] + (uint32_t)op->imm, n_bytes, &value))
        return false;
    put_late(c, op->rd, (value ^ sign) - sign, c->cost.load);
    c->pc += 4;
    return true;
}

static bool stored(struct iss *c, const struct iss_op *op, uint32_t n_bytes)
{
    if (!store(c, c->x[op->rs1] + (uint32_t)op->imm, n_bytes, c->x[op->rs2]))
        return false;
    c->cycles += c->cost.store;
    c->pc += 4;
    return true;
}

static bool custom(struct iss *c, const struct iss_op *op)
{
    const uint32_t word = (uint32_t)op->imm;
    struct iss_answer answer = {0};
    uint32_t cycles;

    if (c->unit == NULL ||
        !c->unit->execute(c->unit->ctx, word, c->x[op->rs1], c->x[op->rs2], &answer)) {
        iss_trap(c, ISS_ILLEGAL, word);
        return false;
    }
    cycles = c->cost.custom + answer.wait;
    c->cycles += cycles > c->cost.hidden ? cycles - c->cost.hidden : 0;
    if (answer.writes)
        put(c, op->rd, answer.value, 0);
    c->pc += 4;
    return true;
}

/* Execute an instruction that neither computes nor jumps nor accesses memory. */
static bool execute_system(struct iss *c, const struct iss_op *op)
{
    switch (op->kind) {
    case ISS_FENCE: break;
    case ISS_MRET: iss_mret(c); return true;
    case ISS_CUSTOM: return custom(c, op);
    case ISS_ECALL_OP: iss_trap(c, ISS_CALL, 0); return false;
    case ISS_EBREAK_OP: iss_trap(c, ISS_BREAKPOINT, c->pc); return false;
    case ISS_CSR:
        if (iss_csr_execute(c, (uint32_t)op->imm)) {
            c->cycles += c->cost.system;
            c->ready[op->rd] = 0;
            break;
        }
        /* fall through */
    default: iss_trap(c, ISS_ILLEGAL, (uint32_t)op->imm); return false;
    }
    c->pc += 4;
    return true;
}

/* Execute one instruction whose operands are available; false after a trap: it has not
 * completed. */
static bool execute(struct iss *c, const struct iss_op *op)
{
    const uint32_t a = c->x[op->rs1], b = c->x[op->rs2], imm = (uint32_t)op->imm, rd = op->rd;

    switch (op->kind) {
    case ISS_LUI: return result(c, rd, imm);
    case ISS_AUIPC: return result(c, rd, c->pc + imm);
    case ISS_JAL: return link(c, rd, c->pc + imm, c->cost.jump);
    case ISS_JALR: return link(c, rd, (a + imm) & ~1u, c->cost.indirect);
    case ISS_BEQ: return branch(c, a == b, imm);
    case ISS_BNE: return branch(c, a != b, imm);
    case ISS_BLT: return branch(c, (int32_t)a < (int32_t)b, imm);
    case ISS_BGE: return branch(c, (int32_t)a >= (int32_t)b, imm);
    case ISS_BLTU: return branch(c, a < b, imm);
    case ISS_BGEU: return branch(c, a >= b, imm);
    case ISS_LB: return loaded(c, op, 1, 8);
    case ISS_LH: return loaded(c, op, 2, 16);
    case ISS_LW: return loaded(c, op, 4, 0);
    case ISS_LBU: return loaded(c, op, 1, 0);
    case ISS_LHU: return loaded(c, op, 2, 0);
    case ISS_SB: return stored(c, op, 1);
    case ISS_SH: return stored(c, op, 2);
    case ISS_SW: return stored(c, op, 4);
    case ISS_ADDI: return result(c, rd, a + imm);
    case ISS_SLLI: return result(c, rd, a << imm);
    case ISS_SLTI: return result(c, rd, (int32_t)a < op->imm);
    case ISS_SLTIU: return result(c, rd, a < imm);
    case ISS_XORI: return result(c, rd, a ^ imm);
    case ISS_SRLI: return result(c, rd, a >> imm);
    case ISS_ORI: return result(c, rd, a | imm);
    case ISS_ANDI: return result(c, rd, a & imm);
    case ISS_SRAI: return result(c, rd, (uint32_t)((int32_t)a >> imm));
    case ISS_ADD: return result(c, rd, a + b);
    case ISS_SLL: return result(c, rd, a << (b & 31));
    case ISS_SLT: return result(c, rd, (int32_t)a < (int32_t)b);
    case ISS_SLTU: return result(c, rd, a < b);
    case ISS_XOR: return result(c, rd, a ^ b);
    case ISS_SRL: return result(c, rd, a >> (b & 31));
    case ISS_OR: return result(c, rd, a | b);
    case ISS_AND: return result(c, rd, a & b);
    case ISS_SUB: return result(c, rd, a - b);
    case ISS_SRA: return result(c, rd, (uint32_t)((int32_t)a >> (b & 31)));
    case ISS_MUL: return multiplied(c, rd, a * b);
    case ISS_MULH: return multiplied(c, rd, high_signed(a, b));
    case ISS_MULHSU: return multiplied(c, rd, high_mixed(a, b));
    case ISS_MULHU: return multiplied(c, rd, high_unsigned(a, b));
    case ISS_DIV: return divided(c, rd, divide(a, b));
    case ISS_DIVU: return divided(c, rd, b == 0 ? ~0u : a / b);
    case ISS_REM: return divided(c, rd, remainder_of(a, b));
    case ISS_REMU: return divided(c, rd, b == 0 ? a : a % b);
    default: return execute_system(c, op);
    }
}

/* --- run --- */

void iss_irq(struct iss *c, enum iss_irq line, bool high)
{
    const uint32_t bit = 1u << line;

    c->mip = high ? c->mip | bit : c->mip & ~bit;
    c->attend = true;
}

/* Return true at slli x0,x0,0x1f; ebreak; srai x0,x0,7: RISC-V semihosting 0.2. */
bool iss_is_semihosting(struct iss *c)
{
    static const uint32_t sequence[3] = {0x01f01013, 0x00100073, 0x40705013};
    const uint8_t *const bytes = iss_bytes(c, c->pc - 4, sizeof sequence);

    return bytes != NULL && memcmp(bytes, sequence, sizeof sequence) == 0;
}

/* Wait for the operands, then execute. */
static void step(struct iss *c, const struct iss_op *op)
{
    const uint64_t first = c->ready[op->rs1], second = c->ready[op->rs2],
                   ready = first > second ? first : second;

    c->cycles = (c->cycles > ready ? c->cycles : ready) + c->cost.fetch;
    c->instructions += execute(c, op);
}

enum iss_stop iss_run(struct iss *c, uint64_t until)
{
    while (c->cycles < until && !c->stopped) {
        const struct iss_op *op;

        if (c->attend)
            iss_interrupt(c);
        if (c->stopped || (op = fetch(c)) == NULL)
            continue;
        if (op->kind == ISS_ECALL_OP && c->stop_at_calls)
            return ISS_ECALL;
        if (op->kind == ISS_EBREAK_OP && c->stop_at_calls && iss_is_semihosting(c))
            return ISS_SEMIHOSTING;
        if (op->kind == ISS_WFI) {
            c->cycles += c->cost.fetch + c->cost.system;
            c->instructions++;
            c->pc += 4;
            if ((c->mip & c->mie) == 0)
                return ISS_WAITING;
            continue;
        }
        step(c, op);
        if (c->yield) {
            c->yield = false;
            return ISS_YIELD;
        }
    }
    return c->stopped ? ISS_TRAP : ISS_LIMIT;
}

const char *iss_cause_text(uint32_t cause)
{
    static const char *const texts[] = {
        "misaligned jump",  "fetch access fault", "illegal instruction",
        "breakpoint",       "misaligned load",    "load access fault",
        "misaligned store", "store access fault", [ISS_CALL] = "ecall",
    };

    return cause < sizeof texts / sizeof *texts && texts[cause] != NULL ? texts[cause]
                                                                        : "interrupt";
}
