// hd_cpu.cpp - the table of hd_cpu.h over Verilator's model of picorv32 and its formal interface
// (rvfi). Memory answers `latency` cycles after the core has put out an address, which is in the
// cycle before mem_valid.
#include "hd_cpu.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "Vhd_sim_top.h"
#include "hd_sim_config.h"
#include "verilated.h"

// The core has no $finish, $stop or assertion: only Verilator's own checks call this.
void vl_finish(const char *, int, const char *) VL_MT_UNSAFE
{
    std::abort();
}

void vl_stop(const char *, int, const char *) VL_MT_UNSAFE
{
    std::abort();
}

void vl_fatal(const char *, int, const char *, const char *) VL_MT_UNSAFE
{
    std::abort();
}

struct hd_cpu {
    explicit hd_cpu(const hd_cpu_options &o) : options(o), region(o.region, o.region + o.n_region)
    {
    }

    hd_cpu_options options;
    std::vector<hd_cpu_region> region;
    VerilatedContext context;
    Vhd_sim_top top{&context, "TOP"};
    hd_cpu_state state = {};
    size_t last = 0;      // region of the last access
    uint32_t waited = 0;  // cycles of mem_valid without an answer
    bool outside = false; // the access is the caller's and has been answered
    bool held = false;    // an instruction has been answered, and completes after `hold` cycles
    uint64_t hold = 0;
    bool booting = true; // until the jump to the program has completed

    void clock()
    {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
        state.cycles++;
        top.mem_ready = 0;
        top.pcpi_ready = 0;
        if (top.rvfi_valid && booting)
            booting = top.rvfi_pc_rdata != 4;
        else if (top.rvfi_valid) {
            state.pc = top.rvfi_pc_wdata;
            const hd_cpu_retired what = {top.rvfi_pc_rdata, top.rvfi_insn, top.rvfi_rd_addr,
                                         top.rvfi_rd_wdata};
            options.retired(options.ctx, &what);
        }
    }

    uint8_t *find(uint32_t address)
    {
        for (size_t i = 0, k = last; i < region.size(); i++) {
            const uint32_t offset = address - region[k].base;

            if (offset < region[k].n_bytes) {
                last = k;
                return region[k].bytes + offset;
            }
            k = k + 1 == region.size() ? 0 : k + 1;
        }
        return nullptr;
    }

    // Read a word of memory. ecall and semihosting's ebreak, which would trap, are replaced by an
    // instruction in the custom-2 space, which the core offers: custom a0, a0, a1 with bit 20 of
    // the original.
    uint32_t read(const uint8_t *from)
    {
        uint32_t word;

        std::memcpy(&word, from, 4);
        return top.mem_instr && (word & ~0x100000u) == 0x73 ? 0xb5055bu | (word & 0x100000) << 5
                                                            : word;
    }

    // Answer one cycle's memory access; return true if the access is the caller's.
    bool answer_memory()
    {
        uint8_t *bytes;

        if (!top.mem_valid || outside)
            return false;
        bytes = find(top.mem_addr);
        if (bytes == nullptr)
            return true;
        if (++waited < options.latency + region[last].wait)
            return false;
        waited = 0;
        top.mem_ready = 1;
        if (top.mem_wstrb == 0)
            top.mem_rdata = read(bytes);
        for (uint32_t i = 0; i < 4; i++)
            if (top.mem_wstrb >> i & 1)
                bytes[i] = static_cast<uint8_t>(top.mem_wdata >> 8 * i);
        return false;
    }

    // Return true if the core offers the instruction; it multiplies and divides itself.
    bool is_offer() const
    {
        const uint32_t word = top.pcpi_insn;

        return top.pcpi_valid && !held && !((word & 0x7f) == 0x33 && word >> 25 == 1);
    }

    hd_cpu_stop stopped(hd_cpu_stop why)
    {
        state.pc = top.rvfi_pc_wdata;
        if (why == HD_CPU_ACCESS) {
            state.address = top.mem_addr;
            state.strobe = top.mem_wstrb;
            state.fetch = top.mem_instr;
            state.word = top.mem_wdata;
        } else if (why == HD_CPU_OFFER) {
            state.word = top.pcpi_insn;
            state.rs1 = top.pcpi_rs1;
            state.rs2 = top.pcpi_rs2;
        }
        return why;
    }

    hd_cpu_stop run(uint64_t cycles)
    {
        for (const uint64_t end = state.cycles + cycles; state.cycles < end;) {
            if (top.trap)
                return stopped(HD_CPU_TRAP);
            if (is_offer())
                return stopped(HD_CPU_OFFER);
            if (answer_memory())
                return stopped(HD_CPU_ACCESS);
            if (held)
                complete();
            clock();
            outside = false;
        }
        return stopped(HD_CPU_LIMIT);
    }

    // Complete the instruction that was answered, once it has waited.
    void complete()
    {
        top.pcpi_wait = hold != 0;
        if (hold-- != 0)
            return;
        top.pcpi_ready = 1;
        held = false;
    }

    void answer(uint32_t word, int writes, uint64_t wait)
    {
        if (is_offer()) {
            top.pcpi_wr = writes != 0;
            top.pcpi_rd = word;
            hold = wait;
            held = true;
            return;
        }
        while (wait-- > 0)
            clock();
        top.mem_ready = 1;
        top.mem_rdata = word;
        outside = true;
    }
};

// Open a core. It begins at address 0: lui t0, jalr to the program.
static hd_cpu *cpu_open(const hd_cpu_options *options)
{
    const uint32_t high = (options->pc + 0x800) & ~0xfffu, low = options->pc - high;
    uint32_t boot[2] = {high | 0x2b7, low << 20 | 0x28067};
    hd_cpu *const cpu = new (std::nothrow) hd_cpu(*options);

    if (cpu == nullptr)
        return nullptr;
    cpu->top.resetn = 0;
    for (int i = 0; i < 4; i++)
        cpu->clock();
    cpu->top.resetn = 1;
    cpu->region.push_back({0, sizeof boot, reinterpret_cast<uint8_t *>(boot), 0});
    while (!(cpu->top.mem_valid && cpu->top.mem_addr == options->pc)) {
        (void)cpu->answer_memory();
        cpu->clock();
    }
    cpu->region.pop_back();
    cpu->last = 0;
    cpu->state.cycles = 0;
    return cpu;
}

static void cpu_close(hd_cpu *cpu)
{
    cpu->top.final();
    delete cpu;
}

static hd_cpu_stop cpu_run(hd_cpu *cpu, uint64_t cycles)
{
    return cpu->run(cycles);
}

static const hd_cpu_state *cpu_state(const hd_cpu *cpu)
{
    return &cpu->state;
}

static void cpu_answer(hd_cpu *cpu, uint32_t word, int writes, uint64_t wait)
{
    cpu->answer(word, writes, wait);
}

extern "C" __attribute__((visibility("default"))) const hd_cpu_api hd_cpu_api = {
    HD_CPU_ABI, HD_SIM_SOURCE_HASH, cpu_open, cpu_close, cpu_run, cpu_state, cpu_answer};
