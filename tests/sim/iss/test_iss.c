/* test_iss.c - the instruction-set simulator: traps, control registers, interrupts, cycles, mapped
 * I/O, ELF files. The results of instructions are compared with qemu in test_random.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "sim/iss/iss_elf.h"

#define RAM     0x80000000u
#define BYTES   0x1000u
#define DEVICE  0x10000000u
#define FAR     0x20000000u
#define HANDLER (RAM + 0x800u)

enum {
    MSTATUS = 0x300,
    MISA = 0x301,
    MIE = 0x304,
    MTVEC = 0x305,
    MCYCLE = 0xb00,
    MINSTRET = 0xb02
};
enum { CSRRW = 1, CSRRS = 2, CSRRC = 3, CSRRWI = 5, CSRRSI = 6 };
enum { ECALL = 0x73, EBREAK = 0x100073, MRET = 0x30200073, WFI = 0x10500073, NOP = 0x13 };

struct bench {
    struct arena *arena;
    struct iss *c;
    uint8_t *ram;
    struct iss_device device;
    uint32_t offset, n_bytes, value; /* of the last write to the device */
    uint32_t waits;                  /* cycles of an access */
};

static bool device_read(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t *value)
{
    struct bench *const b = ctx;

    b->c->cycles += b->waits;
    *value = 0xffffff80u + offset;
    return n_bytes != 2;
}

static bool device_write(void *ctx, uint32_t offset, uint32_t n_bytes, uint32_t value)
{
    struct bench *const b = ctx;

    b->offset = offset;
    b->n_bytes = n_bytes;
    b->value = value;
    b->c->yield = offset == 8;
    return offset != 12;
}

static int set_up(void **state)
{
    struct arena *const a = arena_new(0);
    struct bench *const b = ARENA_NEW(a, struct bench);

    *b = (struct bench){.arena = a, .device = {device_read, device_write, b}};
    b->c = iss_new(a, &iss_five_stages);
    b->ram = arena_alloc(a, BYTES);
    iss_memory(b->c, RAM, BYTES, b->ram, 0);
    iss_device(b->c, DEVICE, 16, &b->device);
    iss_code(b->c, a, RAM, BYTES);
    b->c->pc = RAM;
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(((struct bench *)*state)->arena);
    return 0;
}

/* --- a small assembler --- */

static uint32_t immediate(uint32_t imm, uint32_t rs1, uint32_t funct3, uint32_t rd, uint32_t opcode)
{
    return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t addi(uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return immediate(imm & 0xfff, rs1, 0, rd, 0x13);
}

static uint32_t load(uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return immediate(imm, rs1, funct3, rd, 0x03);
}

static uint32_t store(uint32_t funct3, uint32_t rs2, uint32_t rs1, uint32_t imm)
{
    return immediate(imm >> 5 << 5 | rs2, rs1, funct3, imm & 31, 0x23);
}

static uint32_t mul(uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return immediate(1 << 5 | rs2, rs1, funct3, rd, 0x33);
}

static uint32_t csr(uint32_t funct3, uint32_t rd, uint32_t number, uint32_t rs1)
{
    return immediate(number, rs1, funct3, rd, 0x73);
}

static void put(struct bench *b, uint32_t address, uint32_t word)
{
    memcpy(b->ram + (address - RAM), &word, sizeof word);
}

#define PROGRAM(b, ...)                                                                            \
    do {                                                                                           \
        const uint32_t words_[] = {__VA_ARGS__};                                                   \
        memcpy((b)->ram, words_, sizeof words_);                                                   \
    } while (0)

/* Execute `n` instructions, each taken as long as it takes. */
static void steps(struct bench *b, uint32_t n)
{
    while (n-- > 0)
        assert_int_equal(iss_run(b->c, b->c->cycles + 1), ISS_LIMIT);
}

/* --- traps --- */

static const struct {
    const char *name;
    uint32_t word, x1, cause, value;
} trap_cases[] = {
    {"ecall", ECALL, 0, ISS_CALL, 0},
    {"ebreak", EBREAK, 0, ISS_BREAKPOINT, RAM},
    {"zeros", 0, 0, ISS_ILLEGAL, 0},
    {"ones", ~0u, 0, ISS_ILLEGAL, ~0u},
    {"compressed", 0x4501, 0, ISS_ILLEGAL, 0x4501},
    {"float load", 0x0000a007, 0, ISS_ILLEGAL, 0x0000a007},
    {"atomic", 0x0000a02f, 0, ISS_ILLEGAL, 0x0000a02f},
    {"shift by 32", 0x02009093, 0, ISS_ILLEGAL, 0x02009093},
    {"sret", 0x10200073, 0, ISS_ILLEGAL, 0x10200073},
    {"no such csr", 0x7c0012f3, 0, ISS_ILLEGAL, 0x7c0012f3},
    {"write to mhartid", 0xf1409073, 0, ISS_ILLEGAL, 0xf1409073},
    {"write to cycle", 0xc0009073, 0, ISS_ILLEGAL, 0xc0009073},
    {"lw at 2", 0x0000a103, RAM + 2, ISS_LOAD_MISALIGNED, RAM + 2},
    {"lh at 1", 0x00009103, RAM + 1, ISS_LOAD_MISALIGNED, RAM + 1},
    {"lhu at 3", 0x0000d103, RAM + 3, ISS_LOAD_MISALIGNED, RAM + 3},
    {"sw at 1", 0x0020a023, RAM + 1, ISS_STORE_MISALIGNED, RAM + 1},
    {"sh at 3", 0x00209023, RAM + 3, ISS_STORE_MISALIGNED, RAM + 3},
    {"lb before memory", 0x00008103, RAM - 1, ISS_LOAD_FAULT, RAM - 1},
    {"lb after memory", 0x00008103, RAM + BYTES, ISS_LOAD_FAULT, RAM + BYTES},
    {"lw in no memory", 0x0000a103, 0, ISS_LOAD_FAULT, 0},
    {"sb after memory", 0x00208023, RAM + BYTES, ISS_STORE_FAULT, RAM + BYTES},
    {"lh of the device", 0x00009103, DEVICE, ISS_LOAD_FAULT, DEVICE},
    {"sw to the device", 0x0020a023, DEVICE + 12, ISS_STORE_FAULT, DEVICE + 12},
    {"jalr to 2", 0x00008167, RAM + 2, ISS_FETCH_MISALIGNED, RAM + 2},
    {"jal by 2", 0x0020016f, 0, ISS_FETCH_MISALIGNED, RAM + 2},
    {"taken branch by 6", 0x00000363, 0, ISS_FETCH_MISALIGNED, RAM + 6},
};

/* Each: cause, value, address; registers and the count of instructions stay; mret continues. */
static void each_trap_enters_the_handler(void **state)
{
    struct bench *const b = *state;

    put(b, HANDLER, MRET);
    for (uint32_t i = 0; i < sizeof trap_cases / sizeof *trap_cases; i++) {
        put(b, RAM, trap_cases[i].word);
        iss_code(b->c, b->arena, RAM, BYTES);
        *b->c = (struct iss){.cost = b->c->cost,
                             .op = b->c->op,
                             .owner = b->c->owner,
                             .code_base = RAM,
                             .code_bytes = BYTES,
                             .n_region = b->c->n_region,
                             .region = {b->c->region[0], b->c->region[1]},
                             .pc = RAM,
                             .mtvec = HANDLER,
                             .mstatus = 8};
        b->c->x[1] = trap_cases[i].x1;
        b->c->x[2] = 5;
        steps(b, 1);
        if (b->c->mcause != trap_cases[i].cause || b->c->mtval != trap_cases[i].value)
            fail_msg("%s: cause %u, value 0x%08x", trap_cases[i].name, b->c->mcause, b->c->mtval);
        assert_int_equal(b->c->mepc, RAM);
        assert_int_equal(b->c->pc, HANDLER);
        assert_int_equal(b->c->x[2], 5);
        assert_int_equal(b->c->instructions, 0);
        assert_int_equal(b->c->mstatus, 0x80);
        steps(b, 1);
        assert_int_equal(b->c->pc, RAM);
        assert_int_equal(b->c->mstatus, 0x88);
    }
}

static void jump_out_of_code_faults_there(void **state)
{
    struct bench *const b = *state;

    b->c->mtvec = HANDLER;
    b->c->x[1] = DEVICE;
    PROGRAM(b, 0x00008067 /* jalr x0, x1 */);
    steps(b, 2);
    assert_int_equal(b->c->mcause, ISS_FETCH_FAULT);
    assert_int_equal(b->c->mepc, DEVICE);
    assert_int_equal(b->c->mtval, DEVICE);
}

static void without_a_handler_the_run_ends(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, NOP, 0);
    assert_int_equal(iss_run(b->c, 100), ISS_TRAP);
    assert_int_equal(b->c->mcause, ISS_ILLEGAL);
    assert_int_equal(b->c->mepc, RAM + 4);
    assert_int_equal(iss_run(b->c, 200), ISS_TRAP);
    assert_string_equal(iss_cause_text(b->c->mcause), "illegal instruction");
    assert_string_equal(iss_cause_text(0x8000000b), "interrupt");
}

/* rd = rs1 + 2 * rs2, `waits` cycles later; function 7 has no result. */
static bool custom(void *ctx, uint32_t word, uint32_t rs1, uint32_t rs2, struct iss_answer *answer)
{
    const struct bench *const b = ctx;

    *answer = (struct iss_answer){rs1 + 2 * rs2, (word >> 12 & 7) != 7, b->waits};
    return word >> 25 != 1;
}

static uint32_t custom_word(uint32_t opcode, uint32_t funct7, uint32_t funct3, uint32_t rd)
{
    return funct7 << 25 | 2u << 20 | 1u << 15 | funct3 << 12 | rd << 7 | opcode;
}

static void a_unit_executes_custom_instructions(void **state)
{
    struct bench *const b = *state;
    const struct iss_unit unit = {custom, b};

    PROGRAM(b, addi(1, 0, 5), addi(2, 0, 7), custom_word(0x0b, 0, 0, 3), custom_word(0x2b, 2, 0, 3),
            custom_word(0x0b, 0, 7, 1), custom_word(0x0b, 1, 0, 4));
    b->c->unit = &unit;
    b->waits = 9;
    steps(b, 3);
    assert_int_equal(b->c->x[3], 19);
    assert_int_equal(b->c->cycles, 3 + 9);
    b->waits = 0;
    steps(b, 2);
    assert_int_equal(b->c->x[3], 19);
    assert_int_equal(b->c->x[1], 5);
    assert_int_equal(b->c->cycles, 5 + 9);
    assert_int_equal(b->c->instructions, 5);
    assert_int_equal(iss_run(b->c, 100), ISS_TRAP); /* the unit does not know it */
    assert_int_equal(b->c->mcause, ISS_ILLEGAL);
    assert_int_equal(b->c->mtval, custom_word(0x0b, 1, 0, 4));
}

/* PicoRV32 fetches the next instruction while it waits for the unit. */
static void slow_memory_hides_cycles_of_a_unit(void **state)
{
    struct bench *const b = *state;
    const struct iss_unit unit = {custom, b};
    const uint32_t base = iss_picorv32.fetch, system = iss_picorv32.system;

    PROGRAM(b, custom_word(0x0b, 0, 0, 3), custom_word(0x0b, 0, 0, 3));
    b->c->cost = iss_with_memory(&iss_picorv32, 4);
    b->c->unit = &unit;
    steps(b, 1); /* at once: the fetch hides it all */
    assert_int_equal(b->c->cycles, base + 3);
    b->waits = 8;
    steps(b, 1);
    assert_int_equal(b->c->cycles, 2 * (base + 3) + system + 8 - 3);
}

static void without_a_unit_they_are_illegal(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, custom_word(0x2b, 0, 0, 3));
    assert_int_equal(iss_run(b->c, 100), ISS_TRAP);
    assert_int_equal(b->c->mcause, ISS_ILLEGAL);
}

static void a_branch_not_taken_may_be_misaligned(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, 0x00001363 /* bne x0, x0, 6 */);
    steps(b, 1);
    assert_int_equal(b->c->pc, RAM + 4);
}

/* --- control registers --- */

static void csr_instructions_read_then_write(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, addi(1, 0, 0x7ff), csr(CSRRW, 2, 0x340, 1), csr(CSRRC, 3, 0x340, 1),
            csr(CSRRSI, 4, 0x340, 5), csr(CSRRWI, 5, 0x340, 31), csr(CSRRS, 6, 0x340, 0),
            csr(CSRRS, 7, MISA, 0), csr(CSRRW, 0, 0x340, 1), csr(CSRRW, 1, 0x340, 1));
    steps(b, 9);
    assert_int_equal(b->c->x[2], 0);
    assert_int_equal(b->c->x[3], 0x7ff);
    assert_int_equal(b->c->x[4], 0);
    assert_int_equal(b->c->x[5], 5);
    assert_int_equal(b->c->x[6], 31);
    assert_int_equal(b->c->x[7], 0x40001100);
    assert_int_equal(b->c->x[1], 0x7ff);
    assert_int_equal(b->c->mscratch, 0x7ff);
}

/* Only bits that the hart has; mstatus.MPP is 3. */
static void csr_bits_that_do_not_exist_stay_zero(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, addi(1, 0, 0xfff), csr(CSRRW, 0, MSTATUS, 1), csr(CSRRS, 2, MSTATUS, 0),
            csr(CSRRW, 0, MIE, 1), csr(CSRRS, 3, MIE, 0), csr(CSRRW, 0, 0x341, 1),
            csr(CSRRS, 4, 0x341, 0), csr(CSRRW, 0, 0x344, 1), csr(CSRRS, 5, 0x344, 0),
            csr(CSRRW, 0, MTVEC, 1), csr(CSRRS, 6, MTVEC, 0));
    steps(b, 11);
    assert_int_equal(b->c->x[2], 0x1888);
    assert_int_equal(b->c->x[3], 0x888);
    assert_int_equal(b->c->x[4], 0xfffffffc);
    assert_int_equal(b->c->x[5], 0);
    assert_int_equal(b->c->x[6], 0xfffffffd);
}

static void counters_count_and_can_be_set(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, NOP, NOP, csr(CSRRS, 1, MINSTRET, 0), csr(CSRRS, 2, MCYCLE, 0),
            csr(CSRRWI, 0, 0xb82, 7), csr(CSRRWI, 0, MINSTRET, 9), csr(CSRRS, 3, 0xc82, 0),
            csr(CSRRS, 4, MINSTRET, 0));
    steps(b, 8);
    assert_int_equal(b->c->x[1], 2);
    assert_int_equal(b->c->x[2], 4); /* cycles: with its own */
    assert_int_equal(b->c->x[3], 7);
    assert_int_equal(b->c->x[4], 9 + 2);
    assert_int_equal(b->c->instructions, 8);
}

/* --- interrupts --- */

static void interrupts_are_taken_in_the_order_of_priority(void **state)
{
    struct bench *const b = *state;

    b->c->mtvec = HANDLER | 1; /* vectored */
    b->c->mie = 0x888;
    iss_irq(b->c, ISS_IRQ_TIMER, true);
    iss_irq(b->c, ISS_IRQ_SOFTWARE, true);
    iss_irq(b->c, ISS_IRQ_EXTERNAL, true);
    PROGRAM(b, NOP, csr(CSRRSI, 0, MSTATUS, 8), NOP);
    for (uint32_t i = 0; i < 12; i++)
        put(b, HANDLER + 4 * i, MRET);
    steps(b, 2);
    assert_int_equal(b->c->pc, RAM + 8); /* enabled: taken before the next instruction */
    static const uint32_t order[] = {ISS_IRQ_EXTERNAL, ISS_IRQ_SOFTWARE, ISS_IRQ_TIMER};
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t before = b->c->cycles;
        steps(b, 1); /* the trap and the handler's mret */
        assert_int_equal(b->c->mcause, 0x80000000u | order[i]);
        assert_int_equal(b->c->mepc, RAM + 8);
        assert_int_equal(b->c->mtval, 0);
        assert_int_equal(b->c->cycles - before, 5 + 1 + 5);
        iss_irq(b->c, (enum iss_irq)order[i], false);
    }
    steps(b, 1);
    assert_int_equal(b->c->pc, RAM + 12);
}

static void wfi_waits_for_what_mie_enables(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, WFI, WFI, WFI);
    iss_irq(b->c, ISS_IRQ_EXTERNAL, true);
    assert_int_equal(iss_run(b->c, 100), ISS_WAITING);
    assert_int_equal(b->c->pc, RAM + 4);
    b->c->mie = 0x800; /* and mstatus.MIE is 0: it continues without a trap */
    steps(b, 1);
    assert_int_equal(b->c->pc, RAM + 8);
    iss_irq(b->c, ISS_IRQ_EXTERNAL, false);
    assert_int_equal(iss_run(b->c, 100), ISS_WAITING);
    assert_int_equal(b->c->cycles, 3);
}

/* --- calls --- */

static void calls_end_the_run_where_asked_for(void **state)
{
    struct bench *const b = *state;

    b->c->stop_at_calls = true;
    b->c->mtvec = HANDLER;
    PROGRAM(b, ECALL, 0x01f01013, EBREAK, 0x40705013, EBREAK);
    assert_int_equal(iss_run(b->c, 100), ISS_ECALL);
    assert_int_equal(b->c->pc, RAM);
    b->c->pc += 4;
    assert_int_equal(iss_run(b->c, 100), ISS_SEMIHOSTING);
    assert_int_equal(b->c->pc, RAM + 8);
    b->c->pc += 4;
    steps(b, 2); /* the rest of the sequence; an ebreak that is none */
    assert_int_equal(b->c->mcause, ISS_BREAKPOINT);
}

/* --- cycles --- */

static void results_of_loads_and_products_come_late(void **state)
{
    struct bench *const b = *state;

    b->c->x[1] = RAM;
    PROGRAM(b, load(2, 2, 1, 0), addi(3, 2, 0)); /* used at once: 2 more */
    steps(b, 2);
    assert_int_equal(b->c->cycles, 1 + 2 + 1);
    b->c->pc = RAM + 8;
    put(b, RAM + 8, mul(0, 2, 1, 1));
    put(b, RAM + 12, NOP);
    put(b, RAM + 16, addi(3, 2, 0)); /* one in between: 1 more */
    steps(b, 3);
    assert_int_equal(b->c->cycles, 4 + 1 + 1 + 1 + 1);
    put(b, RAM + 20, mul(0, 2, 1, 1));
    put(b, RAM + 24, addi(2, 0, 1)); /* overwritten: no instruction waits */
    put(b, RAM + 28, addi(3, 2, 0));
    steps(b, 3);
    assert_int_equal(b->c->cycles, 8 + 3);
}

static void divisions_jumps_and_taken_branches_cost(void **state)
{
    struct bench *const b = *state;

    PROGRAM(b, mul(4, 2, 1, 1), 0x00000463 /* beq x0, x0, 8 */, NOP, 0x00001463 /* bne x0, x0, 8 */,
            0x008000ef /* jal x1, 8 */);
    steps(b, 4);
    assert_int_equal(b->c->cycles, 34 + 6 + 1 + 6);
    assert_int_equal(b->c->pc, RAM + 24);
    assert_int_equal(b->c->x[1], RAM + 20);
}

static void left(void *ctx, uint32_t owner, uint32_t from)
{
    uint32_t *const seen = ctx;

    seen[0]++;
    seen[1] = owner;
    seen[2] = from;
}

static void far_memory_waits(void **state)
{
    struct bench *const b = *state;
    uint8_t bytes[8] = {7};

    iss_memory(b->c, FAR, sizeof bytes, bytes, 10);
    b->c->x[1] = FAR;
    PROGRAM(b, load(2, 2, 1, 0), addi(3, 2, 0), store(2, 2, 1, 4));
    steps(b, 2);
    assert_int_equal(b->c->cycles, 1 + 10 + 2 + 1);
    steps(b, 1);
    assert_int_equal(b->c->cycles, 14 + 1 + 10);
    assert_int_equal(bytes[4], 7);
}

static void cycles_are_counted_by_owner(void **state)
{
    struct bench *const b = *state;
    uint32_t seen[3] = {0};

    PROGRAM(b, NOP, 0x008000ef /* jal x1, 8 */, NOP, NOP, 0x00008067 /* jalr x0, x1 */);
    b->c->owner[3] = b->c->owner[4] = 2;
    b->c->left = left;
    b->c->left_ctx = seen;
    steps(b, 2);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 0);
    assert_int_equal(seen[2], RAM + 4);
    steps(b, 3); /* back at the third */
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 2);
    assert_int_equal(seen[2], RAM + 16);
    assert_int_equal(b->c->pc, RAM + 12);
    iss_spend(b->c);
    assert_int_equal(b->c->spent[0], 1 + 6 + 1);
    assert_int_equal(b->c->spent[2], 1 + 6);
    assert_int_equal(b->c->cycles, 15);
}

static void a_trap_can_end_the_run(void **state)
{
    struct bench *const b = *state;

    b->c->stop_at_traps = true;
    b->c->mtvec = HANDLER;
    b->c->mie = 0x800;
    b->c->mstatus = 8;
    PROGRAM(b, 0);
    put(b, HANDLER, MRET);
    iss_irq(b->c, ISS_IRQ_EXTERNAL, true);
    steps(b, 1); /* an interrupt is none */
    iss_irq(b->c, ISS_IRQ_EXTERNAL, false);
    assert_int_equal(iss_run(b->c, 100), ISS_TRAP);
    assert_int_equal(b->c->pc, RAM);
    assert_int_equal(b->c->mcause, ISS_ILLEGAL);
}

/* --- memory --- */

static void a_device_sees_its_accesses(void **state)
{
    struct bench *const b = *state;

    b->c->x[1] = DEVICE;
    b->c->x[2] = 0x12345678;
    b->waits = 10;
    PROGRAM(b, store(2, 2, 1, 4), load(0, 3, 1, 2), load(4, 4, 1, 2), store(0, 2, 1, 8), NOP);
    steps(b, 1);
    assert_int_equal(b->offset, 4);
    assert_int_equal(b->n_bytes, 4);
    assert_int_equal(b->value, 0x12345678);
    steps(b, 2);
    assert_int_equal(b->c->x[3], 0xffffff82);
    assert_int_equal(b->c->cycles, 1 + 11 + 11);
    assert_int_equal(iss_run(b->c, 1000), ISS_YIELD);
    assert_int_equal(b->c->pc, RAM + 16);
    assert_false(b->c->yield);
}

static void code_that_is_written_is_decoded_again(void **state)
{
    struct bench *const b = *state;

    b->c->x[1] = RAM;
    b->c->x[2] = addi(3, 0, 7);
    PROGRAM(b, addi(3, 0, 1), store(2, 2, 1, 0), 0xff9ff06f /* jal x0, -8 */);
    steps(b, 3);
    assert_int_equal(b->c->x[3], 1);
    steps(b, 1);
    assert_int_equal(b->c->x[3], 7);
}

static void x0_stays_zero(void **state)
{
    struct bench *const b = *state;

    b->c->x[1] = RAM;
    PROGRAM(b, addi(0, 1, 1), load(2, 0, 1, 0), 0x0040006f /* jal x0, 4 */, csr(CSRRS, 0, MISA, 0),
            addi(2, 0, 0));
    steps(b, 5);
    assert_int_equal(b->c->x[0], 0);
    assert_int_equal(b->c->x[2], 0);
    assert_int_equal(b->c->cycles, 5 + 5); /* no instruction waits for x0 */
}

/* --- ELF --- */

struct file {
    Elf32_Ehdr header;
    Elf32_Phdr segment[2];
    Elf32_Shdr section[3];
    Elf32_Sym symbol[6];
    char names[32];
    uint32_t code[2];
};

static struct file make_file(void)
{
    struct file f = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, 1},
                   .e_type = ET_EXEC,
                   .e_machine = EM_RISCV,
                   .e_entry = RAM + 0x104,
                   .e_phoff = offsetof(struct file, segment),
                   .e_shoff = offsetof(struct file, section),
                   .e_phnum = 2,
                   .e_shnum = 3},
        .segment = {{PT_LOAD, offsetof(struct file, code), RAM + 0x100, RAM + 0x100, 8, 8,
                     PF_R | PF_X, 4},
                    {PT_LOAD, offsetof(struct file, code), RAM + 0x200, RAM + 0x200, 4, 12,
                     PF_R | PF_W, 4}},
        .section = {{0},
                    {.sh_type = SHT_SYMTAB,
                     .sh_offset = offsetof(struct file, symbol),
                     .sh_size = sizeof f.symbol,
                     .sh_link = 2},
                    {.sh_type = SHT_STRTAB,
                     .sh_offset = offsetof(struct file, names),
                     .sh_size = sizeof f.names}},
        .symbol = {{25, 0, 0, STT_FILE, 0, SHN_ABS},
                   {6, RAM + 0x104, 4, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1},
                   {1, RAM + 0x100, 4, STT_NOTYPE, 0, 1},
                   {11, RAM + 0x100, 4, STT_OBJECT, 0, 1},
                   {15, RAM + 0x100, 4, STT_NOTYPE, 0, 1},
                   {20, 3, 4, STT_FUNC, 0, SHN_UNDEF}},
        .names = "\0boot\0main\0obj\0.L42\0gone\0m.c",
        .code = {NOP, EBREAK},
    };

    return f;
}

static void elf_is_loaded_with_its_functions(void **state)
{
    struct bench *const b = *state;
    const struct file f = make_file();
    struct iss_program p;
    struct diag d = {.status = ST_OK};

    memset(b->ram, 0xff, BYTES);
    assert_int_equal(iss_load(b->c, b->arena, "net", (const uint8_t *)&f, sizeof f, &p, &d), ST_OK);
    assert_int_equal(b->c->pc, RAM + 0x104);
    assert_memory_equal(b->ram + 0x100, f.code, 8);
    assert_memory_equal(b->ram + 0x204, "\0\0\0\0\0\0\0\0\xff", 9);
    assert_int_equal(p.n_symbol, 2);
    assert_string_equal(p.symbol[0].file, "m.c");
    assert_string_equal(iss_symbol_named(&p, "main")->name, "main");
    assert_string_equal(iss_symbol_named(&p, "main")->file, "");
    assert_null(iss_symbol_named(&p, "obj"));
    assert_string_equal(iss_place(b->arena, &p, RAM + 0x102), "boot + 0x2");
    assert_string_equal(iss_place(b->arena, &p, RAM + 0x104), "main + 0x0");
    assert_string_equal(iss_place(b->arena, &p, RAM), "0x80000000");
    assert_int_equal(iss_run(b->c, 100), ISS_TRAP);
    assert_int_equal(b->c->mcause, ISS_BREAKPOINT);
}

static void refuse(struct bench *b, const struct file *f, size_t n_bytes, const char *text)
{
    struct iss_program p;
    struct diag d = {.status = ST_OK};

    assert_int_equal(iss_load(b->c, b->arena, "net", (const uint8_t *)f, n_bytes, &p, &d),
                     ST_USAGE);
    assert_string_equal(d.text, text);
}

static void elf_that_does_not_fit_is_refused(void **state)
{
    struct bench *const b = *state;
    struct file f = make_file();

    f.header.e_ident[EI_CLASS] = ELFCLASS64;
    refuse(b, &f, sizeof f,
           "net: expected a linked program of 32-bit RISC-V (class 1, machine 243, type 2), found "
           "class 2, machine 243, type 2");
    refuse(b, &f, 3, "net: not an ELF file");
    f = make_file();
    f.header.e_flags = EF_RISCV_RVC;
    refuse(b, &f, sizeof f, "net: compressed instructions; expected -march=rv32im");
    f = make_file();
    f.segment[1].p_memsz = BYTES;
    refuse(b, &f, sizeof f, "net: a segment of 4096 bytes at 0x80000200: there is no memory");
    f.segment[1].p_memsz = 3;
    refuse(b, &f, sizeof f, "net: a segment of 3 bytes has 4 in the file");
    f = make_file();
    f.segment[0].p_flags = PF_R;
    refuse(b, &f, sizeof f, "net: no executable segment");
    f = make_file();
    f.section[1].sh_size = 1 << 20;
    refuse(b, &f, sizeof f, "net: its symbol table is longer than the file");
}

/* Cut anywhere, or with any byte changed: loaded or refused, never read beyond the end. */
static void elf_damaged_anywhere_is_safe(void **state)
{
    struct bench *const b = *state;
    const struct file good = make_file();
    uint32_t refused = 0;

    for (size_t n = 0; n < sizeof good; n++) {
        struct iss_program p;
        struct diag d = {.status = ST_OK};
        uint8_t *const cut = arena_memdup(b->arena, &good, n);
        struct file changed = good;

        refused += iss_load(b->c, b->arena, "net", cut, n, &p, &d) != ST_OK;
        ((uint8_t *)&changed)[n] ^= 0xff;
        d.status = ST_OK;
        (void)iss_load(b->c, b->arena, "net", (const uint8_t *)&changed, sizeof changed, &p, &d);
    }
    assert_in_range(refused, sizeof good - sizeof good.code, sizeof good);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_trap_enters_the_handler),
        TEST(jump_out_of_code_faults_there),
        TEST(without_a_handler_the_run_ends),
        TEST(a_unit_executes_custom_instructions),
        TEST(slow_memory_hides_cycles_of_a_unit),
        TEST(without_a_unit_they_are_illegal),
        TEST(a_branch_not_taken_may_be_misaligned),
        TEST(csr_instructions_read_then_write),
        TEST(csr_bits_that_do_not_exist_stay_zero),
        TEST(counters_count_and_can_be_set),
        TEST(interrupts_are_taken_in_the_order_of_priority),
        TEST(wfi_waits_for_what_mie_enables),
        TEST(calls_end_the_run_where_asked_for),
        TEST(results_of_loads_and_products_come_late),
        TEST(divisions_jumps_and_taken_branches_cost),
        TEST(far_memory_waits),
        TEST(cycles_are_counted_by_owner),
        TEST(a_trap_can_end_the_run),
        TEST(a_device_sees_its_accesses),
        TEST(code_that_is_written_is_decoded_again),
        TEST(x0_stays_zero),
        TEST(elf_is_loaded_with_its_functions),
        TEST(elf_that_does_not_fit_is_refused),
        TEST(elf_damaged_anywhere_is_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
