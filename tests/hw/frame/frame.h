/* frame.h - hd_top without compute units on the bench's bus: shared by the benches of frame_tb. */
#ifndef HEDDLE_TESTS_HW_FRAME_H
#define HEDDLE_TESTS_HW_FRAME_H

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "driver/hd_crc.h"
#include "hd_accel.h"
#include "hd_timing.h"
#include "tests/hw/dma/axi_bus.h"
#include "tests/hw/dma/dma_shape.h"

namespace
{
constexpr int N = CfgN;
constexpr uint64_t kBase = 0x1280000000, kBus = 1ull << CfgAxiAddrBits;
constexpr uint32_t kNoRegion =
    9; /* disabled; the other odd regions are read, even ones are written */
constexpr uint32_t kRights = 0x5754aaab | 1u << (16 + kNoRegion); /* exactly these rights */
constexpr uint32_t kCommands = 0, kSource = 0x40000, kSourceBytes = 0x80000, kTarget = 0x100000,
                   kTargetBytes = 0x40000, kMemory = 0x180000;
constexpr uint32_t kSpadWords =
    CfgScratchpadBytes / N / 2; /* the lower half: noise is in the upper */
constexpr uint32_t kWeightWords = CfgWeightBytes / N;

int failures = 0;
#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (!(cond) && failures++ < 20) {                                                          \
            printf("FAILED %s: ", #cond);                                                          \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            if (getenv("BENCH_FIRST"))                                                             \
                exit(1);                                                                           \
        }                                                                                          \
    } while (0)

/* A command for ARRAY or VECTOR. */
struct unit_command {
    uint32_t unit, index;
    std::vector<uint32_t> words;
    bool operator==(const unit_command &o) const
    {
        return unit == o.unit && index == o.index && words == o.words;
    }
};

struct done_event {
    uint32_t unit, cmd;
    uint64_t cycle;
};

/* A command of the stream: its number and its layer. */
struct numbered {
    uint32_t index, layer;
};

/* Cycles of the events between which accel.json's delays are defined. */
struct timing_trace {
    std::vector<uint64_t> requests[16], beats[16]; /* AR and R, by ID */
    std::vector<uint64_t> words[HD_UNIT_COUNT];    /* LOAD's and WEIGHT's writes */
    std::vector<uint64_t> taken[HD_UNIT_COUNT];    /* commands, each of a different layer */
    std::vector<uint64_t> written, answers;        /* W and B */
    uint64_t handshake = 0, doorbell = 0;          /* cycles of the last register write */
    uint64_t irq = 0, reads = 0;                   /* reads: cycles in which STORE is busy */
    uint32_t layer[HD_UNIT_COUNT] = {};

    void sample(const Vbench &d, uint64_t now)
    {
        const uint32_t fetch = get_field(d.unit_kind_o, HD_UNIT_FETCH * 3, 3),
                       store = get_field(d.unit_kind_o, HD_UNIT_STORE * 3, 3);

        if (d.m_arvalid_o && d.m_arready_i)
            requests[d.m_arid_o].push_back(now);
        if (d.m_rvalid_i && d.m_rready_o)
            beats[d.m_rid_i].push_back(now);
        if (d.load_valid_o)
            words[HD_UNIT_LOAD].push_back(now);
        if (d.weight_valid_o)
            words[HD_UNIT_WEIGHT].push_back(now);
        if (d.m_wvalid_o && d.m_wready_i)
            written.push_back(now);
        if (d.m_bvalid_i && d.m_bready_o)
            answers.push_back(now);
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++) {
            const uint32_t l = get_field(d.unit_layer_o, (int)u * 16, 16);
            if (l != layer[u])
                taken[u].push_back(now - 1);
            layer[u] = l;
        }
        reads += store == HD_COUNTER_STORE_BUSY % HD_COUNTER_SLOTS;
        if ((d.s_awvalid_i && d.s_awready_o) || (d.s_wvalid_i && d.s_wready_o))
            handshake = now;
        if (!doorbell && fetch != HD_COUNTER_FETCH_IDLE % HD_COUNTER_SLOTS)
            doorbell = handshake;
        if (!irq && d.irq_o)
            irq = now;
    }
};

uint32_t unit_of(uint32_t opcode)
{
    switch (opcode) {
    case HD_OPCODE_LOAD: return HD_UNIT_LOAD;
    case HD_OPCODE_WEIGHT: return HD_UNIT_WEIGHT;
    case HD_OPCODE_ARRAY: return HD_UNIT_ARRAY;
    case HD_OPCODE_VECTOR: return HD_UNIT_VECTOR;
    case HD_OPCODE_STORE: return HD_UNIT_STORE;
    case HD_OPCODE_END: return HD_UNIT_FETCH;
    default: return HD_UNIT_COUNT;
    }
}

struct bench {
    std::unique_ptr<Vbench> d = std::make_unique<Vbench>();
    rng random;
    axi_bus bus;
    std::vector<word_write> loads, weights;
    std::vector<unit_command> computes;
    std::vector<uint32_t> stores; /* command of each W beat */
    std::vector<done_event> done;
    std::vector<numbered> given[HD_UNIT_COUNT];           /* the stream's commands, in order */
    std::vector<uint32_t> layers;                         /* of all of them */
    bool started = false;                                 /* the units execute this stream */
    uint32_t completed[HD_UNIT_COUNT] = {};               /* since the doorbell */
    uint32_t kinds[HD_UNIT_COUNT][HD_COUNTER_SLOTS] = {}; /* cycles since the doorbell */
    bool record = true;
    timing_trace *trace = nullptr; /* recorded if not null */
    uint32_t hash = 0;

    explicit bench(uint64_t seed) : random(seed), bus(kBase, kMemory, random)
    {
        d->rst_ni = 0;
        for (int i = 0; i < 3; i++)
            cycle();
        d->rst_ni = 1;
        cycle();
    }

    template <class T> std::vector<uint8_t> bytes(const T &port, uint64_t enable)
    {
        std::vector<uint8_t> out((size_t)N);

        for (int i = 0; i < N; i++)
            out[(size_t)i] = enable >> i & 1 ? (uint8_t)get_field(port, i * 8, 8) : 0;
        return out;
    }

    void cycle()
    {
        d->clk_i = 0;
        d->eval();
        if (d->rst_ni) {
            check_store_trace();
            bus.sample(*d);
            if (record)
                observe();
            if (trace)
                trace->sample(*d, bus.now);
        }
        d->clk_i = 1;
        d->eval();
        if (d->rst_ni)
            bus.drive(*d);
    }

    void observe()
    {
        if (d->load_valid_o)
            loads.push_back({d->load_cmd_o, HD_SPACE_SCRATCHPAD, d->load_word_o, d->load_be_o,
                             bytes(d->load_data_o, d->load_be_o)});
        if (d->weight_valid_o)
            weights.push_back({d->weight_cmd_o, d->weight_space_o, d->weight_word_o, ~0ull,
                               bytes(d->weight_data_o, ~0ull)});
        for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
            kinds[u][get_field(d->unit_kind_o, (int)u * 3, 3)]++;
        if (d->array_taken_o)
            computes.push_back(taken(HD_UNIT_ARRAY, d->array_index_o, d->array_cmd_o));
        if (d->vector_taken_o)
            computes.push_back(taken(HD_UNIT_VECTOR, d->vector_index_o, d->vector_cmd_o));
        if (d->store_valid_o)
            stores.push_back(d->store_cmd_o);
        for (uint32_t u = 0; started && u < HD_UNIT_FETCH; u++)
            check_current(u);
        if (started)
            check_fetch();
        for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
            if (d->done_o >> u & 1) {
                const uint32_t cmd = get_field(d->done_cmd_o, (int)u * 32, 32);

                CHECK(completed[u] < given[u].size() && given[u][completed[u]].index == cmd,
                      "command %u is done, %u before of unit %u", cmd, completed[u], u);
                done.push_back({u, cmd, bus.now});
                completed[u]++;
            }
        CHECK(!d->result_wrong_o, "trace of a result");
        CHECK(d->array_begin_o == d->array_taken_o, "trace of ARRAY's begin: %d, taken %d",
              d->array_begin_o, d->array_taken_o);
        CHECK(d->s_bresp_o == 0 && d->s_rresp_o == 0, "registers answer %d, %d", d->s_bresp_o,
              d->s_rresp_o);
    }

    /* Check that a unit is at its oldest command, otherwise at the last one, otherwise at none. */
    void check_current(uint32_t u)
    {
        const uint32_t cmd = get_field(d->unit_cmd_o, (int)u * 32, 32),
                       layer = get_field(d->unit_layer_o, (int)u * 16, 16), n = completed[u];
        bool known = n == 0 && cmd == 0 && layer == 0;

        for (uint32_t i = n - (n > 0); i <= n && i < given[u].size(); i++)
            known |= cmd == given[u][i].index && layer == given[u][i].layer;
        CHECK(known, "unit %u is at command %u of layer %u, %u done", u, cmd, layer, n);
    }

    /* Check that FETCH is at the command after those handed over, once it arrives. */
    void check_fetch()
    {
        const uint32_t n = get_field(d->unit_cmd_o, HD_UNIT_FETCH * 32, 32),
                       layer = get_field(d->unit_layer_o, HD_UNIT_FETCH * 16, 16);

        CHECK((n < layers.size() && layer == layers[n]) ||
                  (n <= layers.size() && layer == (n ? layers[n - 1] : 0)),
              "FETCH is at layer %u, %u handed over", layer, n);
    }

    template <class T> unit_command taken(uint32_t unit, uint32_t index, const T &cmd)
    {
        unit_command c = {unit, index, {}};

        for (int i = 0; i < (int)HD_CMD_ARRAY_BYTES / 4; i++)
            c.words.push_back(get_field(cmd, i * 32, 32));
        check_waits(c);
        return c;
    }

    /* Check waits before this cycle's completions count. */
    void check_waits(const unit_command &c)
    {
        hd_common common;

        memcpy(&common, c.words.data(), sizeof common);
        const uint32_t wait[] = {common.wait_load, common.wait_weight, common.wait_array,
                                 common.wait_vector, common.wait_store};
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
            CHECK(!(common.wait_enable >> u & 1) || (int16_t)(completed[u] - wait[u]) >= 0,
                  "unit %u takes command %u, which waits for %u of unit %u: %u", c.unit, c.index,
                  wait[u], u, completed[u]);
    }

    /* Check the trace of STORE before the bus accepts the beat. */
    void check_store_trace()
    {
        CHECK(!d->store_wrong_o, "trace of a W beat");
        if (!d->store_valid_o || bus.writes.empty())
            return;
        const axi_bus::burst &w = bus.writes.front();
        const uint64_t address = w.address + (uint64_t)w.beat * axi_bus::width;
        CHECK(d->store_addr_o == address, "trace of a W beat: address %llx, expected %llx",
              (unsigned long long)d->store_addr_o, (unsigned long long)address);
    }

    /* Clock until a register answers. */
    void answered(const CData &valid)
    {
        int left = 1000;

        do {
            cycle();
        } while (!valid && --left > 0);
        CHECK(valid, "no answer of the registers");
    }

    void write(uint32_t offset, uint32_t value, uint32_t strobe = 15)
    {
        const int order = random.range(0, 2); /* address first, data first, together */
        bool aw = false, w = false;

        for (int i = 0; !(aw && w); i++) {
            if (i == 1000) {
                CHECK(false, "a register's address or data is not taken");
                break;
            }
            d->s_awvalid_i = !aw && (order != 1 || i > 1);
            d->s_wvalid_i = !w && (order != 0 || i > 1);
            d->s_awaddr_i = (uint16_t)offset;
            d->s_wdata_i = value;
            d->s_wstrb_i = strobe & 15;
            d->s_bready_i = 0;
            d->clk_i = 0;
            d->eval();
            const bool aw_now = d->s_awvalid_i && d->s_awready_o,
                       w_now = d->s_wvalid_i && d->s_wready_o;
            cycle();
            aw |= aw_now;
            w |= w_now;
        }
        d->s_awvalid_i = d->s_wvalid_i = 0;
        d->s_bready_i = 1;
        if (!d->s_bvalid_o)
            answered(d->s_bvalid_o);
        cycle();
        d->s_bready_i = 0;
    }

    uint32_t read(uint32_t offset)
    {
        d->s_araddr_i = (uint16_t)offset;
        d->s_arvalid_i = 1;
        d->s_rready_i = 0;
        answered(d->s_rvalid_o);
        d->s_arvalid_i = 0;
        const uint32_t value = d->s_rdata_o;
        if (random.chance(10))
            cycle();
        CHECK(d->s_rvalid_o && d->s_rdata_o == value, "an answer waits");
        d->s_rready_i = 1;
        cycle();
        d->s_rready_i = 0;
        return value;
    }

    void region(uint32_t r, uint64_t base, uint32_t size)
    {
        write(HD_REG_REGION_BASE_LO(r), (uint32_t)base);
        write(HD_REG_REGION_BASE_HI(r), (uint32_t)(base >> 32));
        write(HD_REG_REGION_SIZE(r), size);
    }

    /* Place memory and its regions at `base`. */
    void place(uint64_t base)
    {
        bus.base = base;
        region(0, base + kCommands, kSource - kCommands);
        for (uint32_t r = 1; r < HD_REG_REGION_SIZE_COUNT; r++) {
            if (r == kNoRegion)
                region(r, 0, 0);
            else if (r % 2 == 1)
                region(r, base + kSource, kSourceBytes);
            else
                region(r, base + kTarget, kTargetBytes);
        }
    }

    /* Move memory anywhere; sometimes to the end of the bus's addresses. */
    void move()
    {
        const uint64_t most = kBus - kTarget - kTargetBytes, align = std::max(16, CfgAxiBytes),
                       any = (uint64_t)random.next() << 32 | random.next();

        place(random.chance(20) ? most : any % most / align * align);
    }

    uint32_t source_region()
    {
        static const uint32_t all[] = {1, 3, 5, 7, 11, 13, 15};

        return all[random.range(0, 6)];
    }

    uint32_t target_region()
    {
        return 2 * (uint32_t)random.range(1, 7);
    }

    void setup()
    {
        place(kBase);
        write(HD_REG_REGION_RIGHTS, kRights);
        write(HD_REG_IRQ_ENABLE, HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK);
        hash = read(HD_REG_CONFIG_HASH);
        CHECK(read(HD_REG_ID) == HD_ID, "id");
        CHECK(read(HD_REG_REGION_SIZE(2)) == kTargetBytes, "region_size");
        for (uint32_t i = 0; i < kSourceBytes; i++)
            bus.memory[kSource + i] = (uint8_t)random.next();
    }

    /* Write the stream into memory, ring the doorbell, and return at once. */
    void start(const std::vector<uint32_t> &stream, uint32_t offset)
    {
        memcpy(&bus.memory[kCommands + offset], stream.data(), stream.size() * 4);
        launch(offset, (uint32_t)stream.size() * 4, stream);
    }

    /* List the stream's commands by unit. */
    void list(const std::vector<uint32_t> &stream)
    {
        uint32_t index = 0;

        for (std::vector<numbered> &g : given)
            g.clear();
        layers.clear();
        for (size_t at = HD_HEADER_BYTES / 4; at < stream.size(); index++) {
            const uint32_t word = stream[at], unit = unit_of(word & 255);

            layers.push_back(word >> 16);
            if (unit == HD_UNIT_COUNT || (word >> 8 & 255) == 0)
                return;
            given[unit].push_back({index, word >> 16});
            at += (word >> 8 & 255) * 4;
        }
    }

    void launch(uint32_t offset, uint32_t bytes, const std::vector<uint32_t> &stream = {})
    {
        started = false;
        list(stream);
        write(HD_REG_COMMAND_OFFSET, offset);
        write(HD_REG_COMMAND_LENGTH, bytes);
        loads.clear();
        weights.clear();
        computes.clear();
        stores.clear();
        done.clear();
        memset(kinds, 0, sizeof kinds);
        memset(completed, 0, sizeof completed);
        write(HD_REG_CONTROL,
              HD_CONTROL_START_MASK | (random.next() & ~HD_CONTROL_SOFT_RESET_MASK));
        started = true;
    }

    bool wait(uint64_t most = 400000)
    {
        while (!d->irq_o && most-- > 0)
            cycle();
        CHECK(d->irq_o,
              "no interrupt, status %x, kinds of units (fetch first) %05o, cause %x, %zu done",
              read(HD_REG_STATUS), (unsigned)d->unit_kind_o, read(HD_REG_ERR_CAUSE), done.size());
        return d->irq_o;
    }

    /* Check the counters. Units rest when nothing is under way, so all their activities except idle
     * belong to the submission; after a fault one more cycle, until they are reset. */
    void check_counters(bool error)
    {
        static const uint32_t idle[] = {HD_COUNTER_LOAD_IDLE,  HD_COUNTER_WEIGHT_IDLE,
                                        HD_COUNTER_ARRAY_IDLE, HD_COUNTER_VECTOR_IDLE,
                                        HD_COUNTER_STORE_IDLE, HD_COUNTER_FETCH_IDLE};
        uint32_t before[HD_UNIT_COUNT][HD_COUNTER_SLOTS];
        memcpy(before, kinds, sizeof kinds);
        const uint64_t cycles = read(HD_REG_CYCLES_LO) | (uint64_t)read(HD_REG_CYCLES_HI) << 32;

        for (uint32_t u = 0; u < HD_UNIT_COUNT; u++) {
            uint64_t sum = 0;

            for (uint32_t k = 0; k < HD_COUNTER_SLOTS; k++) {
                const uint32_t n = read(HD_REG_COUNTER(u * HD_COUNTER_SLOTS + k));

                sum += n;
                CHECK(k == idle[u] % HD_COUNTER_SLOTS || n == before[u][k] ||
                          (error && n + 1 == before[u][k]),
                      "unit %u, kind %u: %u cycles, seen %u", u, k, n, before[u][k]);
            }
            CHECK(sum == cycles, "unit %u: %llu of %llu cycles", u, (unsigned long long)sum,
                  (unsigned long long)cycles);
        }
    }

    /* Check the last bytes of an ARRAY or VECTOR command, which come after it is done and before
     * the units' reset. */
    void check_written()
    {
        uint64_t last = 0, end = UINT64_MAX;

        for (const done_event &e : done) {
            if (e.unit == HD_UNIT_ARRAY || e.unit == HD_UNIT_VECTOR)
                last = std::max(last, e.cycle + HD_TIMING_REQUANT_AHEAD);
            else if (e.unit == HD_UNIT_FETCH)
                end = e.cycle;
        }
        CHECK(end >= last, "the end %lld cycles before the last write", (long long)(last - end));
    }

    void finish(bool error)
    {
        const uint32_t status = read(HD_REG_STATUS);

        CHECK(status == (HD_STATUS_DONE_MASK | (error ? HD_STATUS_ERROR_MASK : 0u)),
              "status %x, cause %x command %u", status, read(HD_REG_ERR_CAUSE),
              read(HD_REG_ERR_COMMAND));
        CHECK(bus.quiet(), "bus busy after the end: %zu reads, %zu writes, %zu answers, %zu beats",
              bus.reads.size(), bus.writes.size(), bus.answers.size(), bus.early.size());
        CHECK(bus.violation.empty(), "%s", bus.violation.c_str());
        check_counters(error);
        if (!error)
            check_written();
        write(HD_REG_IRQ_STATUS, ~0u);
        CHECK(!d->irq_o, "interrupt stays");
        for (int i = 0; i < 4; i++)
            cycle();
        CHECK((d->active_o & (d->noise_i == 0 ? 15 : 3)) == 0, "clocks %x asked for at rest",
              d->active_o);
    }
};

/* ------------------------------------------------------------------ streams */
/* Set the header's CRC for the current words. */
void seal(std::vector<uint32_t> &words)
{
    words[6] = hd_stream_crc(words.data(), words.size() * 4);
}

struct stream {
    std::vector<uint32_t> words;
    uint32_t commands = 0, count[HD_UNIT_COUNT] = {};

    explicit stream(uint32_t hash)
    {
        words = {HD_MAGIC, HD_STREAM_VERSION, hash, 0, 3, 0, 0, 0};
    }

    template <class T> void add(T c, uint32_t opcode, uint32_t unit)
    {
        uint32_t w[sizeof(T) / 4];

        c.common.opcode = opcode & 255;
        c.common.length = sizeof(T) / 16;
        memcpy(w, &c, sizeof c);
        words.insert(words.end(), w, w + sizeof(T) / 4);
        commands++;
        if (unit < HD_UNIT_COUNT)
            count[unit]++;
    }

    void end()
    {
        hd_cmd_end c = {};

        add(c, HD_OPCODE_END, HD_UNIT_FETCH);
        words[3] = (uint32_t)words.size() * 4;
        words[5] = commands;
        seal(words);
    }
};

void wait_all(hd_common &c, const stream &s, uint32_t units)
{
    c.wait_enable = units & 31;
    c.wait_load = s.count[HD_UNIT_LOAD] & 0xffff;
    c.wait_weight = s.count[HD_UNIT_WEIGHT] & 0xffff;
    c.wait_array = s.count[HD_UNIT_ARRAY] & 0xffff;
    c.wait_vector = s.count[HD_UNIT_VECTOR] & 0xffff;
    c.wait_store = s.count[HD_UNIT_STORE] & 0xffff;
}

/* Return by word the bits of a command that must be 0. */
const std::vector<uint32_t> &reserved_of(uint32_t opcode)
{
    static const std::vector<uint32_t> end HD_CMD_END_RESERVED, read HD_CMD_DMA_READ_RESERVED,
        array HD_CMD_ARRAY_RESERVED, vector HD_CMD_VECTOR_RESERVED, store HD_CMD_STORE_RESERVED;

    return opcode == HD_OPCODE_END      ? end
           : opcode == HD_OPCODE_ARRAY  ? array
           : opcode == HD_OPCODE_VECTOR ? vector
           : opcode == HD_OPCODE_STORE  ? store
                                        : read;
}

hd_cmd_dma_read one_run_read(uint32_t space, uint32_t bytes)
{
    hd_cmd_dma_read c = {};

    set_shape(c, {1, bytes, 0, 1, bytes, 0});
    c.region = 1;
    c.space = space & 7;
    return c;
}

hd_cmd_store one_run_store(uint32_t bytes)
{
    hd_cmd_store c = {};

    set_shape(c, {1, bytes, 0, 1, bytes, 0});
    c.region = 2;
    return c;
}

void random_bus(bench &b)
{
    static const int latencies[] = {1, 3, 20, 64, 200};

    b.bus.latency = (uint64_t)latencies[b.random.range(0, 4)];
    b.bus.stall = b.random.chance(40) ? 0 : b.random.range(1, 70);
    b.d->noise_i = (uint8_t)(b.random.chance(50) ? 0 : b.random.range(10, 200));
}
} // namespace

#endif
