/* cpu_trace.c - a program on the processor's Verilog and on heddle's simulator: each instruction, what it wrote, and its
 * cycles.
 *     cpu_trace compare FILE LATENCY    the two traces are equal; prints how long they are
 *     cpu_trace table FILE              sim/iss/picorv32.inc, as measured on the Verilog
 * FILE: of random_programs, which have every instruction but those of control registers; "-": these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/home.h"
#include "sim/cpu/cpu.h"
#include "sim/iss/iss_decode.h"
#include "sim/iss/iss_elf.h"

#define TEXT      0x10000u
#define DATA      0x4000000u
#define TEXT_SIZE (DATA - TEXT)
#define DATA_SIZE (16u << 20)
#define MAX_STEPS 1000000u

enum { SYS_EXIT = 93 };

struct step {
    uint64_t cycle; /* in which the next instruction begins */
    struct hd_cpu_retired what;
};

struct trace {
    struct arena *arena;
    struct diag d;
    struct cpu cpu;
    struct iss *c;
    struct step *step;
    uint32_t n;
};

static int fail(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return 2;
}

static void retired(void *ctx, const struct hd_cpu_retired *what)
{
    struct trace *const t = ctx;

    if (t->n < MAX_STEPS)
        t->step[t->n++] = (struct step){t->c->cycles, *what};
}

/* csrrw, csrrs, csrrc, csrrwi, csrrsi, csrrci of mscratch; csrr of mie and mip; li a7, 93; ecall */
static const uint32_t control[] = {0x34029373, 0x3402a3f3, 0x34033473, 0x3403d4f3, 0x34046573,
                                   0x3400f5f3, 0x30402673, 0x344026f3, 0x05d00893, 0x00000073};

static enum status load(struct trace *t, struct iss **c, const char *path,
                        const struct iss_cycles *cost)
{
    struct iss_program program;
    uint8_t *bytes;
    size_t n;

    *c = iss_new(t->arena, cost);
    iss_memory(*c, TEXT, TEXT_SIZE, arena_alloc(t->arena, TEXT_SIZE), 0);
    iss_memory(*c, DATA, DATA_SIZE, arena_alloc(t->arena, DATA_SIZE), 0);
    (*c)->stop_at_calls = (*c)->stop_at_traps = true;
    if (strcmp(path, "-") == 0) {
        memcpy(iss_bytes(*c, TEXT, sizeof control), control, sizeof control);
        iss_code(*c, t->arena, TEXT, sizeof control);
        (*c)->pc = TEXT;
        return ST_OK;
    }
    TRY(file_read(t->arena, path, (size_t)1 << 28, &bytes, &n, &t->d));
    return iss_load(*c, t->arena, path, bytes, n, &program, &t->d);
}

/* Until the program's exit; other calls do nothing. */
static enum iss_stop execute(struct trace *t)
{
    enum iss_stop stop;

    while ((stop = cpu_run(&t->cpu, 2000000000u)) == ISS_ECALL && t->c->x[17] != SYS_EXIT)
        t->c->pc += 4;
    return stop;
}

static enum status on_verilog(struct trace *t, const char *path, uint32_t latency)
{
    struct sim_paths paths = {0};
    struct sim_model model;

    TRY(home_find(t->arena, &paths.home, &t->d));
    TRY(home_cache(t->arena, &paths.cache, &t->d));
    TRY(cpu_build(t->arena, &paths, &model, &t->d));
    TRY(load(t, &t->c, path, &iss_picorv32));
    t->cpu = (struct cpu){.retired = retired, .ctx = t};
    t->n = 0;
    t->step = ARENA_ARRAY(t->arena, struct step, MAX_STEPS);
    TRY(cpu_open(&t->cpu, &model, t->c, latency, &t->d));
    if (execute(t) != ISS_ECALL || t->n == MAX_STEPS)
        return FAIL(&t->d, ST_MISMATCH, "no end on the Verilog, at 0x%08x: %s", t->c->pc,
                    iss_cause_text(t->c->mcause));
    return ST_OK;
}

/* Report the difference at instruction i; the cycles of ecall include the caller's. */
static enum status same(struct trace *t, struct iss *c, uint32_t i)
{
    const struct step *const s = &t->step[i];
    const uint32_t pc = c->pc;
    const uint64_t before = c->cycles;

    if (iss_run(c, c->cycles + 1) == ISS_ECALL) {
        c->pc += 4;
        c->x[10] = s->what.value;
        c->instructions++;
    } else if (i > 0 && c->cycles - before != s->cycle - s[-1].cycle) {
        return FAIL(&t->d, ST_MISMATCH,
                    "instruction %u, 0x%08x at 0x%08x: %llu cycles, expected %llu", i, s->what.word,
                    pc, (unsigned long long)(c->cycles - before),
                    (unsigned long long)(s->cycle - s[-1].cycle));
    }
    if (pc != s->what.pc || (s->what.rd != 0 && c->x[s->what.rd] != s->what.value))
        return FAIL(&t->d, ST_MISMATCH,
                    "instruction %u: 0x%08x with x%u = 0x%08x, expected 0x%08x with 0x%08x", i, pc,
                    s->what.rd, c->x[s->what.rd], s->what.pc, s->what.value);
    return ST_OK;
}

static enum status compare(struct trace *t, const char *path, uint32_t latency)
{
    const struct iss_cycles cost = iss_with_memory(&iss_picorv32, latency);
    struct iss *c;

    TRY(on_verilog(t, path, latency));
    TRY(load(t, &c, path, &cost));
    c->x[5] = c->pc; /* as the jump to the program leaves it */
    for (uint32_t i = 0; i < t->n; i++)
        TRY(same(t, c, i));
    if (c->instructions != t->c->instructions ||
        memcmp(iss_bytes(c, DATA, DATA_SIZE), iss_bytes(t->c, DATA, DATA_SIZE), DATA_SIZE) != 0)
        return FAIL(&t->d, ST_MISMATCH, "the memories differ, or the numbers of instructions");
    printf("latency %u: %u instructions equal\n", latency, t->n);
    return ST_OK;
}

/* --- the table --- */

enum class { PLAIN, LOAD, STORE, TAKEN, JUMP, INDIRECT, MULTIPLY, DIVIDE, SYSTEM, OTHER, CLASSES };

static enum class class_of(const struct step *s) {
    const struct iss_op op = iss_decode(s->what.word);

    if (op.kind == ISS_JAL || op.kind == ISS_JALR) return op.kind == ISS_JAL ? JUMP : INDIRECT;
    if (op.kind >= ISS_BEQ && op.kind <= ISS_BGEU &&
        op.imm == 4) return OTHER; /* taken or not: the next instruction does not show it */
    if (op.kind >= ISS_BEQ && op.kind <= ISS_BGEU) return s[1].what.pc == s->what.pc + 4 ? PLAIN
                                                                                         : TAKEN;
    if (op.kind >= ISS_LB && op.kind <= ISS_LHU) return LOAD;
    if (op.kind >= ISS_SB && op.kind <= ISS_SW) return STORE;
    if (op.kind >= ISS_MUL && op.kind <= ISS_REMU) return op.kind < ISS_DIV ? MULTIPLY : DIVIDE;
    if (op.kind == ISS_CSR) return SYSTEM;
    return op.kind == ISS_BAD ? OTHER : PLAIN;
}

/* Cycles of each class: those of every instruction of it, or an error. */
static enum status measure(struct trace *t, const char *path, uint32_t latency,
                           uint64_t cycles[CLASSES])
{
    TRY(on_verilog(t, path, latency));
    memset(cycles, 0, CLASSES * sizeof *cycles);
    for (uint32_t i = 1; i + 1 < t->n; i++) {
        const struct step *const s = &t->step[i];
        const enum class k = class_of(s);
        const uint64_t n = s->cycle - s[-1].cycle;

        if (k != OTHER && cycles[k] != 0 && cycles[k] != n)
            return FAIL(&t->d, ST_MISMATCH, "0x%08x takes %llu cycles, others of its class %llu",
                        s->what.word, (unsigned long long)n, (unsigned long long)cycles[k]);
        cycles[k] = n;
    }
    return ST_OK;
}

/* The table of cycles; more than of an addition where there is one to compare with. */
static enum status table(struct trace *t, const char *path)
{
    uint64_t n[CLASSES], system[CLASSES];

    TRY(measure(t, path, 1, n));
    TRY(measure(t, "-", 1, system));
    for (uint32_t i = 0; i < SYSTEM; i++)
        if (n[i] < n[PLAIN])
            return FAIL(&t->d, ST_MISMATCH, "class %u: %llu cycles", i, (unsigned long long)n[i]);
    printf(".name = \"" CPU_NAME
           "\", .fetch = %llu, .load = %llu, .multiply = %llu, .divide = %llu, "
           ".taken = %llu, .jump = %llu,\n.indirect = %llu, .store = %llu, .system = %llu, "
           ".waits = true\n",
           (unsigned long long)n[PLAIN], (unsigned long long)(n[LOAD] - n[PLAIN]),
           (unsigned long long)(n[MULTIPLY] - n[PLAIN]), (unsigned long long)(n[DIVIDE] - n[PLAIN]),
           (unsigned long long)(n[TAKEN] - n[PLAIN]), (unsigned long long)(n[JUMP] - n[PLAIN]),
           (unsigned long long)(n[INDIRECT] - n[PLAIN]), (unsigned long long)(n[STORE] - n[PLAIN]),
           (unsigned long long)(system[SYSTEM] - n[PLAIN]));
    return ST_OK;
}

int main(int argc, char **argv)
{
    struct trace t = {.arena = arena_new(0), .d = {.status = ST_OK}};
    enum status st = ST_USAGE;

    if (argc == 4 && strcmp(argv[1], "compare") == 0)
        st = compare(&t, argv[2], (uint32_t)strtoul(argv[3], NULL, 0));
    if (argc == 3 && strcmp(argv[1], "table") == 0)
        st = table(&t, argv[2]);
    if (st != ST_OK)
        return fail(t.d.status == ST_OK ? "cpu_trace compare FILE LATENCY | table FILE" : t.d.text);
    arena_free(t.arena);
    return 0;
}
