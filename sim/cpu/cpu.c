/* cpu.c - see cpu.h. */
#include "cpu.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sim/build/cached.h"
#include "sim/iss/iss_csr.h"
#include "sim/iss/iss_decode.h"

#define CUSTOM                                                                                     \
    0x00b5055bu /* the encoding that hd_cpu.cpp substitutes for ecall; with EBREAK for
                            * ebreak */
#define EBREAK 0x02000000u
#define WFI    0x10500073u
#define SYSTEM 0x73u

static enum status find(struct arena *a, const char *home, const char **verilog, struct diag *d)
{
    const char *const given = getenv("HEDDLE_PICORV32");
    glob_t found;

    *verilog = given;
    if (given != NULL && file_exists(given))
        return ST_OK;
    if (given != NULL)
        return FAIL(d, ST_INTERNAL, "--host=rtl: HEDDLE_PICORV32: %s not found", given);
    if (glob(arena_printf(a,
                          "%s/build/venv-cores/lib/python3*/site-packages/pythondata_cpu_picorv32/"
                          "verilog/picorv32.v",
                          home),
             0, NULL, &found) != 0)
        return FAIL(d, ST_INTERNAL,
                    "--host=rtl: the processor's Verilog was not found; .ci/venv cores fetches it "
                    "(pythondata-cpu-picorv32 of PyPI), or HEDDLE_PICORV32 is its path");
    *verilog = arena_printf(a, "%s", found.gl_pathv[0]);
    globfree(&found);
    return ST_OK;
}

enum status cpu_build(struct arena *a, const struct sim_paths *paths, struct sim_model *model,
                      struct diag *d)
{
    const struct hd_config config = {.name = CPU_NAME};
    struct sim_paths with = *paths;

    TRY(find(a, paths->home, &with.cpu, d));
    return sim_build(a, &with, &config, model, d);
}

/* Called when an instruction has completed and the next one begins. */
static void retired(void *ctx, const struct hd_cpu_retired *what)
{
    struct cpu *const u = ctx;
    const struct hd_cpu_state *const now = u->api->state(u->core);

    u->c->cycles = u->base + now->cycles;
    u->c->pc = now->pc;
    u->c->instructions++;
    if (what->rd != 0)
        u->c->x[what->rd] = what->value;
    iss_entered(u->c, what->pc);
    if (u->retired != NULL)
        u->retired(u->ctx, what);
}

enum status cpu_open(struct cpu *u, const struct sim_model *model, struct iss *c, uint32_t latency,
                     struct diag *d)
{
    struct hd_cpu_region region[ISS_REGIONS];
    struct hd_cpu_options o = {
        .region = region, .pc = c->pc, .latency = latency, .retired = retired, .ctx = u};
    void *object;

    TRY(cached_load(model->path, "processor", &object, d));
    u->api = dlsym(object, "hd_cpu_api");
    if (u->api == NULL || u->api->abi != HD_CPU_ABI)
        return FAIL(d, ST_INTERNAL, "'%s' is not a processor's model", model->path);
    for (uint32_t i = 0; i < c->n_region; i++)
        if (c->region[i].bytes != NULL)
            region[o.n_region++] = (struct hd_cpu_region){c->region[i].base, c->region[i].n_bytes,
                                                          c->region[i].bytes, c->region[i].wait};
    u->c = c;
    c->x[5] = (c->pc + 0x800) & ~0xfffu; /* value left by the jump to the program */
    u->core = u->api->open(&o);
    return u->core != NULL ? ST_OK : FAIL(d, ST_NO_MEMORY, "no memory for the processor's model");
}

void cpu_close(struct cpu *u)
{
    u->api->close(u->core);
}

static enum iss_stop trap(struct cpu *u, uint32_t cause, uint32_t value)
{
    iss_trap(u->c, cause, value);
    return ISS_TRAP;
}

/* Report a misaligned address, at which the core itself stops. */
static enum iss_stop misaligned(struct cpu *u)
{
    const uint8_t *const bytes = iss_bytes(u->c, u->c->pc, 4);
    struct iss_op op = {.kind = ISS_BAD};
    uint32_t word, address;

    if (bytes != NULL) {
        memcpy(&word, bytes, 4);
        op = iss_decode(word);
    }
    address = u->c->x[op.rs1] + (uint32_t)op.imm;
    if (op.kind >= ISS_LB && op.kind <= ISS_LHU)
        return trap(u, ISS_LOAD_MISALIGNED, address);
    if (op.kind >= ISS_SB && op.kind <= ISS_SW)
        return trap(u, ISS_STORE_MISALIGNED, address);
    return trap(u, ISS_FETCH_MISALIGNED, op.kind == ISS_JALR ? address & ~1u : address);
}

/* Perform a read, write or fetch outside memory; the core waits for the device. */
static bool access_device(struct cpu *u, const struct hd_cpu_state *s)
{
    const uint32_t shift = s->strobe ? (uint32_t)__builtin_ctz(s->strobe) : 0,
                   n_bytes = s->strobe ? (uint32_t)__builtin_popcount(s->strobe) : 4;
    const uint64_t before = u->c->cycles;
    const struct iss_region *r;
    uint32_t offset, word = 0;

    if (s->fetch) { /* it may never be executed; if it is, it is an illegal instruction */
        u->api->answer(u->core, 0, 0, 0);
        return true;
    }
    r = iss_find(u->c, s->address + shift, n_bytes);
    offset = r != NULL ? s->address + shift - r->base : 0;
    if (r == NULL || r->device == NULL ||
        !(s->strobe ? r->device->write(r->device->ctx, offset, n_bytes, s->word >> 8 * shift)
                    : r->device->read(r->device->ctx, offset, n_bytes, &word))) {
        (void)trap(u, s->strobe ? ISS_STORE_FAULT : ISS_LOAD_FAULT, s->address + shift);
        return false;
    }
    u->api->answer(u->core, word, 0, u->c->cycles - before);
    return true;
}

/* Have the unit execute a custom instruction; the core waits for it. */
static enum iss_stop custom(struct cpu *u, const struct hd_cpu_state *s)
{
    const struct iss_unit *const unit = u->c->unit;
    struct iss_answer answer = {0};

    if (unit == NULL || !unit->execute(unit->ctx, s->word, s->rs1, s->rs2, &answer))
        return trap(u, ISS_ILLEGAL, s->word);
    u->api->answer(u->core, answer.value, answer.writes, answer.wait);
    u->offered = false;
    return ISS_LIMIT;
}

/* Execute an instruction that the core offers. ISS_LIMIT: it is answered. */
static enum iss_stop offered(struct cpu *u, const struct hd_cpu_state *s)
{
    struct iss *const c = u->c;
    const uint32_t rd = s->word >> 7 & 31;

    u->offered = true;
    u->writes = s->word != WFI;
    if (s->word == WFI && !(c->mip & c->mie))
        return ISS_WAITING;
    if (s->word == CUSTOM)
        return c->stop_at_calls ? ISS_ECALL : trap(u, ISS_CALL, 0);
    if (s->word == (CUSTOM | EBREAK))
        return c->stop_at_calls && iss_is_semihosting(c) ? ISS_SEMIHOSTING
                                                         : trap(u, ISS_BREAKPOINT, c->pc);
    if (c->pc - c->code_base >= c->code_bytes)
        return trap(u, ISS_FETCH_FAULT, c->pc);
    if (iss_decode(s->word).kind == ISS_CUSTOM)
        return custom(u, s);
    c->x[s->word >> 15 & 31] = s->rs1;
    if (s->word != WFI &&
        ((s->word & 0x7f) != SYSTEM || (s->word >> 12 & 3) == 0 || !iss_csr_execute(c, s->word)))
        return trap(u, ISS_ILLEGAL, s->word);
    if (c->mstatus & 8) /* the program would take interrupts, which is not supported */
        return trap(u, ISS_ILLEGAL, s->word);
    u->api->answer(u->core, c->x[rd], rd != 0, 0);
    u->offered = false;
    return ISS_LIMIT;
}

enum iss_stop cpu_run(struct cpu *u, uint64_t until)
{
    struct iss *const c = u->c;
    const struct hd_cpu_state *const s = u->api->state(u->core);
    enum iss_stop stop;

    u->base = c->cycles - s->cycles;
    if (u->offered)
        u->api->answer(u->core, c->x[10], u->writes, 0);
    u->offered = false;
    while (c->cycles < until) {
        const enum hd_cpu_stop why = u->api->run(u->core, until - c->cycles);

        c->cycles = u->base + s->cycles;
        c->pc = s->pc;
        if (why == HD_CPU_TRAP)
            return misaligned(u);
        if (why == HD_CPU_ACCESS && !access_device(u, s))
            return ISS_TRAP;
        if (why == HD_CPU_OFFER && (stop = offered(u, s)) != ISS_LIMIT)
            return stop;
        c->cycles = u->base + s->cycles;
        if (c->yield) {
            c->yield = false;
            return ISS_YIELD;
        }
    }
    return ISS_LIMIT;
}
