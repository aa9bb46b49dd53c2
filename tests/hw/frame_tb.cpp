/* frame_tb.cpp - the accelerator's frame (hd_top without compute units) on a bus of the bench's
 * own.
 *   timing     delays and depths against accel.json's timing
 *   registers  random words and strobes at every address against a plain array
 *   order      waits of ARRAY and VECTOR, END after all; a stream longer than what is read ahead
 *   transfers  random LOAD, WEIGHT, STORE with waits: every word written, all of memory, counters
 *              that add up
 *   regions    of any number of bytes at any address: the last byte, and the next one
 *   faults     header, opcode, length, fields, limits, bus errors, each also with random numbers as
 *              large as the field; every reserved bit, the CRC, rights of regions: cause, unit,
 *              command, address; restart
 *   reset      soft reset at a random cycle; the bus is drained; restart
 *   bandwidth  beats a cycle of long streams, printed
 *   counts     (argument `long`) more than 2^16 commands of each unit, so that waits wrap
 * Memory and regions lie at another random address in each round of transfers and faults.
 * Arguments: [seed [rounds [long]]]. Environment: BENCH_FIRST, the first failure ends it. */
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "axi_bus.h"
#include "dma_shape.h"
#include "driver/hd_crc.h"
#include "hd_accel.h"
#include "hd_timing.h"

namespace
{
constexpr int N = CfgN;
constexpr uint64_t kBase = 0x1280000000, kBus = 1ull << CfgAxiAddrBits;
constexpr uint32_t kNoRegion = 9; /* disabled; the other odd ones read, even ones are written */
constexpr uint32_t kRights = 0x5754aaab | 1u << (16 + kNoRegion); /* these rights and no others */
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

/* A command that ARRAY or VECTOR takes. */
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

/* Cycles in which the frame does what delays of accel.json's timing are between. */
struct timing_trace {
    std::vector<uint64_t> requests[16], beats[16]; /* AR and R, by ID */
    std::vector<uint64_t> words[HD_UNIT_COUNT];    /* LOAD's and WEIGHT's writes */
    std::vector<uint64_t> taken[HD_UNIT_COUNT];    /* commands, each of another layer */
    std::vector<uint64_t> written, answers;        /* W and B */
    uint64_t handshake = 0, doorbell = 0;          /* of the last register written */
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
    std::vector<numbered> given[HD_UNIT_COUNT];           /* the stream's, in order */
    std::vector<uint32_t> layers;                         /* of all of them */
    bool started = false;                                 /* the units are at this stream */
    uint32_t completed[HD_UNIT_COUNT] = {};               /* since the doorbell */
    uint32_t kinds[HD_UNIT_COUNT][HD_COUNTER_SLOTS] = {}; /* cycles since the doorbell */
    bool record = true;
    timing_trace *trace = nullptr; /* kept, if there is one */
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

    /* What a unit is at: the oldest command in it, else the last one, else none. */
    void check_current(uint32_t u)
    {
        const uint32_t cmd = get_field(d->unit_cmd_o, (int)u * 32, 32),
                       layer = get_field(d->unit_layer_o, (int)u * 16, 16), n = completed[u];
        bool known = n == 0 && cmd == 0 && layer == 0;

        for (uint32_t i = n - (n > 0); i <= n && i < given[u].size(); i++)
            known |= cmd == given[u][i].index && layer == given[u][i].layer;
        CHECK(known, "unit %u is at command %u of layer %u, %u done", u, cmd, layer, n);
    }

    /* FETCH is at the command after those that it has handed over, once it comes. */
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

    /* Before this cycle's completions count. */
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

    /* Before the bus takes the beat. */
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

    /* Clocks until a register answers. */
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

    /* Memory and its regions at `base`. */
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

    /* Anywhere; now and then at the end of the bus's addresses. */
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

    /* Stream into memory and the doorbell; returns at once. */
    void start(const std::vector<uint32_t> &stream, uint32_t offset)
    {
        memcpy(&bus.memory[kCommands + offset], stream.data(), stream.size() * 4);
        launch(offset, (uint32_t)stream.size() * 4, stream);
    }

    /* The stream's commands by unit. */
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

    /* Units rest when nothing is under way, so their kinds but idle are of the submission; after a
     * fault one more, until they are reset. */
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

    /* The last bytes of a command of ARRAY or VECTOR come after it is done, before the units are
     * reset at the end. */
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
/* The header's CRC for the words as they are. */
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

/* ------------------------------------------------------------------ transfers */
/* By word, the bits of a command that must be 0. */
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

struct transfers {
    bench &b;
    stream s;
    std::vector<uint8_t> spad = std::vector<uint8_t>(CfgScratchpadBytes), target;
    std::vector<word_write> loads, weights;
    std::vector<unit_command> computes;
    std::vector<uint32_t> stores;
    uint32_t last[HD_UNIT_COUNT] = {}, layer[HD_UNIT_COUNT] = {}; /* of each unit's last command */

    explicit transfers(bench &bench_) : b(bench_), s(b.hash)
    {
        target.assign(b.bus.memory.begin() + kTarget,
                      b.bus.memory.begin() + kTarget + kTargetBytes);
    }

    /* Waits for `units`; numbers of the others, and the name of the layer, do not matter. */
    void label(hd_common &c, uint32_t units)
    {
        c.layer = b.random.next() & 0xffff;
        c.wait_load = b.random.next() & 0xffff;
        c.wait_weight = b.random.next() & 0xffff;
        c.wait_array = b.random.next() & 0xffff;
        c.wait_vector = b.random.next() & 0xffff;
        c.wait_store = b.random.next() & 0xffff;
        c.wait_enable = units & 31;
        if (units >> HD_UNIT_LOAD & 1)
            c.wait_load = s.count[HD_UNIT_LOAD] & 0xffff;
        if (units >> HD_UNIT_WEIGHT & 1)
            c.wait_weight = s.count[HD_UNIT_WEIGHT] & 0xffff;
        if (units >> HD_UNIT_ARRAY & 1)
            c.wait_array = s.count[HD_UNIT_ARRAY] & 0xffff;
        if (units >> HD_UNIT_VECTOR & 1)
            c.wait_vector = s.count[HD_UNIT_VECTOR] & 0xffff;
        if (units >> HD_UNIT_STORE & 1)
            c.wait_store = s.count[HD_UNIT_STORE] & 0xffff;
    }

    template <class T> void add(const T &c, uint32_t opcode, uint32_t unit)
    {
        last[unit] = s.commands;
        layer[unit] = c.common.layer;
        s.add(c, opcode, unit);
    }

    /* Bytes of memory, as LOAD flips them. */
    std::vector<uint8_t> gather(const shape &h, bool flip)
    {
        std::vector<uint8_t> out;

        for (uint32_t r = 0; r < h.runs; r++)
            for (uint32_t i = 0; i < h.run_bytes; i++)
                out.push_back((uint8_t)(b.bus.memory[kSource + h.offset + r * h.run_pitch + i] ^
                                        (flip ? 0x80 : 0)));
        return out;
    }

    void read(bool load)
    {
        hd_cmd_dma_read c = {};
        const uint32_t limit = load ? kSpadWords : kWeightWords;
        const shape h = random_shape(b.random, limit * N / 4, kSourceBytes);
        const uint32_t row = words_of(h.row_bytes);
        const uint32_t pitch = row + (b.random.chance(50) ? 0u : (uint32_t)b.random.range(0, 3));

        if ((h.rows - 1) * pitch + row > limit)
            return;
        set_shape(c, h);
        c.region = b.source_region() & 15;
        c.space = load ? HD_SPACE_SCRATCHPAD
                       : (uint32_t)b.random.range(HD_SPACE_WEIGHTS, HD_SPACE_BIAS16) & 7;
        c.flip = b.random.chance(30); /* of WEIGHT it means nothing */
        c.dest_pitch = pitch;
        c.dest = (uint32_t)b.random.range(0, (int)(limit - (h.rows - 1) * pitch - row));
        /* LOAD after the commands that read what it overwrites. */
        label(c.common,
              load ? 1u << HD_UNIT_STORE | 1u << HD_UNIT_WEIGHT : (uint32_t)b.random.range(0, 31));
        expect(c, gather(h, load && c.flip), load);
        add(c, load ? HD_OPCODE_LOAD : HD_OPCODE_WEIGHT, load ? HD_UNIT_LOAD : HD_UNIT_WEIGHT);
    }

    void expect(const hd_cmd_dma_read &c, const std::vector<uint8_t> &bytes, bool load)
    {
        add_words(load ? loads : weights,
                  words_of_rows(c, bytes, s.commands, load ? &spad : nullptr));
    }

    static void add_words(std::vector<word_write> &to, const std::vector<word_write> &words)
    {
        to.insert(to.end(), words.begin(), words.end());
    }

    /* WEIGHT from the scratchpad. */
    void matrix()
    {
        hd_cmd_dma_read c = {};

        if (!random_matrix(b.random, kSpadWords * N, c))
            return;
        label(c.common, 1u << HD_UNIT_LOAD);
        add_words(weights, words_of_matrix(c, spad, s.commands));
        add(c, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
    }

    void store()
    {
        hd_cmd_store c = {};
        const shape h = random_shape(b.random, kSpadWords * N / 4, kTargetBytes);
        const uint32_t row = words_of(h.row_bytes);
        const uint32_t pitch = row + (uint32_t)b.random.range(0, 3);

        if ((h.rows - 1) * pitch + row > kSpadWords || h.runs * h.run_pitch >= kTargetBytes)
            return;
        set_shape(c, h);
        c.region = b.target_region() & 15;
        c.flip = b.random.chance(30);
        c.src_pitch = pitch;
        c.src = (uint32_t)b.random.range(0, (int)(kSpadWords - (h.rows - 1) * pitch - row));
        label(c.common, 1u << HD_UNIT_LOAD);
        const std::vector<uint8_t> bytes = stored_bytes(c, spad);
        for (uint32_t i = 0; i < bytes.size(); i++)
            target[h.offset + i / h.run_bytes * h.run_pitch + i % h.run_bytes] = bytes[i];
        for (uint32_t r = 0; r < h.runs; r++) {
            const uint64_t at = b.bus.base + kTarget + h.offset + r * h.run_pitch;
            stores.insert(stores.end(), (at + h.run_bytes - 1) / CfgAxiBytes - at / CfgAxiBytes + 1,
                          s.commands);
        }
        add(c, HD_OPCODE_STORE, HD_UNIT_STORE);
    }

    /* The scratchpad as it is known: zeros, loaded first. */
    void clear_spad()
    {
        hd_cmd_dma_read c = {};
        const uint32_t bytes = kSpadWords * N;

        label(c.common, 0);
        c.region = b.source_region() & 15;
        c.offset = 0;
        c.runs = c.rows = 1;
        c.run_bytes = c.row_bytes = bytes;
        shape h = {1, bytes, 0, 1, bytes, 0};
        expect(c, gather(h, false), true);
        add(c, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    }

    /* ARRAY and VECTOR take any fields here. */
    void timer(uint32_t unit)
    {
        const uint32_t opcode = unit == HD_UNIT_ARRAY ? HD_OPCODE_ARRAY : HD_OPCODE_VECTOR;
        const size_t first = s.words.size();
        uint32_t words[HD_CMD_ARRAY_BYTES / 4];
        hd_cmd_array c;

        for (size_t i = 0; i < HD_CMD_ARRAY_BYTES / 4; i++)
            words[i] = b.random.next() & ~reserved_of(opcode)[i];
        memcpy(&c, words, sizeof c);
        label(c.common, (uint32_t)b.random.range(0, 31));
        c.common.layer = (uint32_t)b.random.range(0, 200) & 0xffff;
        const uint32_t index = s.commands;
        add(c, opcode, unit);
        computes.push_back({unit, index, {s.words.begin() + (long)first, s.words.end()}});
    }

    void compose(int n)
    {
        clear_spad();
        for (int i = 0; i < n; i++) {
            const int k = b.random.range(0, 11);

            if (k >= 10)
                matrix();
            else if (k < 3)
                read(true);
            else if (k < 6)
                read(false);
            else if (k < 9)
                store();
            else
                timer(b.random.chance(50) ? HD_UNIT_ARRAY : HD_UNIT_VECTOR);
        }
        s.end();
    }

    void check()
    {
        CHECK(b.loads.size() == loads.size(), "loads %zu of %zu", b.loads.size(), loads.size());
        for (size_t i = 0; i < loads.size() && i < b.loads.size(); i++)
            if (!(b.loads[i] == loads[i])) {
                CHECK(false, "load word %zu: cmd %u word %u, expected cmd %u word %u", i,
                      b.loads[i].cmd, b.loads[i].word, loads[i].cmd, loads[i].word);
                break;
            }
        CHECK(b.weights.size() == weights.size(), "weights %zu of %zu", b.weights.size(),
              weights.size());
        for (size_t i = 0; i < weights.size() && i < b.weights.size(); i++)
            if (!(b.weights[i] == weights[i])) {
                CHECK(false, "weight word %zu: cmd %u word %u, expected cmd %u word %u", i,
                      b.weights[i].cmd, b.weights[i].word, weights[i].cmd, weights[i].word);
                break;
            }
        for (uint32_t u : {HD_UNIT_ARRAY, HD_UNIT_VECTOR})
            CHECK(of(u, b.computes) == of(u, computes), "commands that unit %u takes", u);
        CHECK(b.stores == stores, "commands of W beats: %zu of %zu", b.stores.size(),
              stores.size());
        for (uint32_t i = 0; i < kTargetBytes; i++)
            if (b.bus.memory[kTarget + i] != target[i]) {
                CHECK(false, "memory byte %x: %02x, expected %02x", i, b.bus.memory[kTarget + i],
                      target[i]);
                break;
            }
        for (uint32_t u = 0; u < HD_UNIT_FETCH; u++) {
            CHECK(b.read(HD_REG_UNIT_DONE(u)) == s.count[u], "done of unit %u", u);
            CHECK(b.read(HD_REG_UNIT_COMMAND(u)) == last[u], "command of unit %u", u);
            CHECK(get_field(b.d->unit_cmd_o, (int)u * 32, 32) == last[u], "traced, of unit %u", u);
            CHECK(get_field(b.d->unit_layer_o, (int)u * 16, 16) == layer[u], "layer of unit %u", u);
        }
        CHECK(b.read(HD_REG_UNIT_DONE(HD_UNIT_FETCH)) == s.commands - 1, "handed over");
        CHECK(get_field(b.d->unit_layer_o, HD_UNIT_FETCH * 16, 16) == 0, "layer of END");
        check_order();
    }

    static std::vector<unit_command> of(uint32_t unit, const std::vector<unit_command> &all)
    {
        std::vector<unit_command> some;

        for (const unit_command &c : all)
            if (c.unit == unit)
                some.push_back(c);
        return some;
    }

    /* Units complete their commands in order, END last. */
    void check_order()
    {
        uint32_t before[HD_UNIT_COUNT] = {};

        CHECK(b.done.size() == s.commands, "%zu completions of %u", b.done.size(), s.commands);
        for (const done_event &e : b.done) {
            CHECK(before[e.unit] == 0 || e.cmd > before[e.unit], "unit %u out of order", e.unit);
            before[e.unit] = e.cmd;
        }
        CHECK(!b.done.empty() && b.done.back().unit == HD_UNIT_FETCH &&
                  b.done.back().cmd == s.commands - 1,
              "END");
    }
};

void random_bus(bench &b)
{
    static const int latencies[] = {1, 3, 20, 64, 200};

    b.bus.latency = (uint64_t)latencies[b.random.range(0, 4)];
    b.bus.stall = b.random.chance(40) ? 0 : b.random.range(1, 70);
    b.d->noise_i = (uint8_t)(b.random.chance(50) ? 0 : b.random.range(10, 200));
}

void test_transfers(bench &b, int n)
{
    transfers t(b);

    random_bus(b);
    t.compose(n);
    b.start(t.s.words, (uint32_t)b.random.range(0, 500) * 16);
    if (!b.wait())
        return;
    b.finish(false);
    t.check();
}

/* ------------------------------------------------------------------ registers */
/* What a bus master has written, against what it reads: bytes without strobe stay, registers that
 * only read and addresses without one keep what they have. */
void test_registers(bench &b, int n)
{
    std::vector<uint32_t> known(0x400), writable(0x400);

    for (uint32_t r = 0; r < HD_REG_REGION_SIZE_COUNT; r++)
        writable[HD_REG_REGION_BASE_LO(r) / 4] = writable[HD_REG_REGION_BASE_HI(r) / 4] =
            writable[HD_REG_REGION_SIZE(r) / 4] = ~0u;
    writable[HD_REG_REGION_RIGHTS / 4] = ~0u;
    writable[HD_REG_COMMAND_OFFSET / 4] = writable[HD_REG_COMMAND_LENGTH / 4] = ~0u;
    writable[HD_REG_IRQ_ENABLE / 4] = HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK;
    for (uint32_t i = 0; i < 0x400; i++) {
        known[i] = b.read(i * 4);
        CHECK(i * 4 < HD_REG_BYTES || known[i] == 0, "%x reads %x", i * 4, known[i]);
    }
    for (int i = 0; i < n; i++) {
        const uint32_t at = (uint32_t)b.random.range(0, b.random.chance(10) ? 0x3ff : 0x5a),
                       value = b.random.next(), strobe = b.random.next() & 15;
        uint32_t mask = 0;

        if (at == HD_REG_CONTROL / 4 || at == HD_REG_IRQ_STATUS / 4)
            continue;
        for (uint32_t k = 0; k < 4; k++)
            mask |= strobe >> k & 1 ? 0xffu << (8 * k) : 0;
        mask &= writable[at];
        b.write(at * 4 | (b.random.next() & 3), value, strobe);
        known[at] = (known[at] & ~mask) | (value & mask);
        CHECK(b.read(at * 4 | (b.random.next() & 3)) == known[at], "%x after a write of %x & %x",
              at * 4, value, mask);
    }
    for (uint32_t i = 0; i < 0x400; i++)
        CHECK(b.read(i * 4) == known[i], "%x: %x, expected %x", i * 4, b.read(i * 4), known[i]);
    b.write(HD_REG_REGION_RIGHTS, kRights);
    b.write(HD_REG_IRQ_ENABLE, HD_IRQ_ENABLE_DONE_MASK | HD_IRQ_ENABLE_ERROR_MASK);
}

/* ------------------------------------------------------------------ order */
void test_order(bench &b)
{
    stream s(b.hash);
    hd_cmd_array slow = {}, after = {};
    uint64_t at[HD_UNIT_COUNT] = {};

    random_bus(b);
    slow.common.layer = 3000;
    s.add(slow, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(after.common, s, 1u << HD_UNIT_ARRAY);
    after.common.layer = 100;
    s.add(after, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.start(s.words, 0);
    if (!b.wait())
        return;
    for (const done_event &e : b.done)
        at[e.unit] = e.cycle;
    CHECK(at[HD_UNIT_ARRAY] + 100 < at[HD_UNIT_VECTOR] && at[HD_UNIT_VECTOR] < at[HD_UNIT_FETCH],
          "waits");
    CHECK(b.read(HD_REG_COUNTER(HD_COUNTER_VECTOR_WAIT_TOKEN)) > 1000, "wait_token");
    b.finish(false);
}

/* A stream longer than what FETCH reads ahead, blocked by the queue of a unit that reads:
 * read-ahead beats must not hold the bus that this unit waits for. */
void test_long_stream(bench &b)
{
    stream s(b.hash);
    hd_cmd_dma_read load = {};

    random_bus(b);
    set_shape(load, {40, 100, 5000, 40, 100, 3});
    load.region = 1;
    load.dest_pitch = words_of(100);
    for (int i = 0; i < 150; i++)
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.end();
    b.start(s.words, 0);
    if (b.wait(2000000))
        b.finish(false);
}

/* ------------------------------------------------------------------ faults */
struct fault {
    uint32_t code, unit, command;
    uint64_t address;
    bool check_address;
};

void check_fault(bench &b, const fault &f, const char *name)
{
    if (!b.wait()) {
        printf("  (%s)\n", name);
        return;
    }
    const uint32_t cause = b.read(HD_REG_ERR_CAUSE);
    const uint64_t address = b.read(HD_REG_ERR_ADDRESS_LO) | (uint64_t)b.read(HD_REG_ERR_ADDRESS_HI)
                                                                 << 32;

    CHECK(cause == (f.code | f.unit << 8), "%s: cause %x, expected code %u unit %u", name, cause,
          f.code, f.unit);
    CHECK(b.read(HD_REG_ERR_COMMAND) == f.command, "%s: command %u, expected %u", name,
          b.read(HD_REG_ERR_COMMAND), f.command);
    CHECK(!f.check_address || address == f.address, "%s: address %llx, expected %llx", name,
          (unsigned long long)address, (unsigned long long)f.address);
    b.finish(true);
}

void expect_fault(bench &b, const std::vector<uint32_t> &words, const fault &f, const char *name,
                  uint32_t offset = 64)
{
    b.start(words, offset);
    check_fault(b, f, name);
}

hd_cmd_dma_read simple_read(uint32_t space)
{
    hd_cmd_dma_read c = {};

    c.region = 1;
    c.space = space & 7;
    c.runs = c.rows = 2;
    c.run_bytes = c.row_bytes = 500;
    c.run_pitch = 600;
    c.dest_pitch = words_of(500);
    c.offset = 128;
    return c;
}

hd_cmd_store simple_store()
{
    hd_cmd_store c = {};

    c.region = 2;
    c.runs = c.rows = 2;
    c.run_bytes = c.row_bytes = 500;
    c.run_pitch = 600;
    c.src_pitch = words_of(500);
    return c;
}

/* One good command of each DMA unit, with command 1, 2 or 3 changed by the caller. */
struct trio {
    hd_cmd_dma_read load = simple_read(HD_SPACE_SCRATCHPAD), weight = simple_read(HD_SPACE_WEIGHTS);
    hd_cmd_store store = simple_store();
    uint32_t hash;

    explicit trio(const bench &b) : hash(b.hash)
    {
    }
    stream make(uint32_t before = 1) const
    {
        stream s(hash);
        hd_cmd_array a = {};

        a.common.layer = 20;
        for (uint32_t i = 0; i < before; i++)
            s.add(a, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
        s.add(weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
        hd_cmd_store last = store;
        wait_all(last.common, s, 1u << HD_UNIT_LOAD);
        s.add(last, HD_OPCODE_STORE, HD_UNIT_STORE);
        s.end();
        return s;
    }
};

void test_header_faults(bench &b)
{
    const stream good = trio(b).make();
    const uint64_t at = b.bus.base + kCommands + 64;
    std::vector<uint32_t> w;

    w = good.words, w[0] ^= 1;
    expect_fault(b, w, {HD_FAULT_BAD_HEADER, HD_UNIT_FETCH, 0, at, true}, "magic");
    w = good.words, w[1]++;
    expect_fault(b, w, {HD_FAULT_BAD_VERSION, HD_UNIT_FETCH, 0, at, true}, "version");
    w = good.words, w[2] ^= 0x80000000;
    expect_fault(b, w, {HD_FAULT_CONFIG_MISMATCH, HD_UNIT_FETCH, 0, at, true}, "hash");
    w = good.words, w[3] += 16;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "header length");
    w = good.words, w.resize(4);
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "short");
    w = good.words, w.push_back(0);
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 0, at, true}, "length of 4");
    w = good.words, w.resize(w.size() - 4), w[3] -= 16; /* no END */
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 4, at + w.size() * 4, true}, "no END");
    w = good.words, w[8 + 28] = (w[8 + 28] & ~0xffu) | 77;
    expect_fault(b, w, {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "opcode");
    w = good.words, w[8 + 28] &= ~0xffu;
    expect_fault(b, w, {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "opcode 0");
    w = good.words, w[8 + 28] += 0x100;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 1, at + 32 + 112, true},
                 "command length");
    w = good.words, w.resize(8 + 28 + 4), w[3] = (uint32_t)w.size() * 4;
    expect_fault(b, w, {HD_FAULT_BAD_LENGTH, HD_UNIT_FETCH, 1, at + 32 + 112, true}, "cut command");
    expect_fault(b, good.words,
                 {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, b.bus.base + kSource - 64, true},
                 "stream limit", kSource - 64);
}

/* Each reserved bit of the header or command at word `first`, one at a time, with the right CRC. */
void spoil_reserved(bench &b, const stream &s, const std::vector<uint32_t> &reserved,
                    uint32_t first, uint32_t command)
{
    const uint64_t at = b.bus.base + kCommands + 64;

    for (uint32_t bit = 0; bit < 32 * reserved.size(); bit++) {
        std::vector<uint32_t> w = s.words;

        if ((reserved[bit / 32] >> bit % 32 & 1) == 0)
            continue;
        w[first + bit / 32] |= 1u << bit % 32;
        seal(w);
        expect_fault(b, w, {HD_FAULT_BAD_RESERVED, HD_UNIT_FETCH, command, at + first * 4, true},
                     "reserved bit");
    }
}

void test_reserved(bench &b)
{
    const trio t(b);
    stream s(b.hash);
    uint32_t command = 0;

    s.add(hd_cmd_vector{}, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.add(hd_cmd_array{}, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    s.add(t.load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.add(t.weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
    s.add(t.store, HD_OPCODE_STORE, HD_UNIT_STORE);
    s.end();
    spoil_reserved(b, s, HD_HEADER_RESERVED, 0, 0);
    for (uint32_t at = HD_HEADER_BYTES / 4; at < s.words.size(); at += (s.words[at] >> 8 & 255) * 4)
        spoil_reserved(b, s, reserved_of(s.words[at] & 255), at, command++);
}

/* Up to 32 wrong bits in a row where nothing but the CRC notices: words of ARRAY, which the bench's
 * own unit ignores, waits of END, and the header's counts and CRC. */
void test_crc(bench &b)
{
    const uint64_t at = b.bus.base + kCommands + 64;
    stream s(b.hash);

    for (int i = b.random.range(0, 3); i >= 0; i--)
        s.add(hd_cmd_array{}, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    s.end();
    const uint32_t commands = s.commands, end = 8 + 28 * (commands - 1);
    for (int i = 0; i < 40; i++) {
        std::vector<uint32_t> w = s.words;
        const uint64_t bits = ((uint64_t)b.random.next() | 1) << b.random.range(0, 31);
        const uint32_t any = 8 + 28 * (uint32_t)b.random.range(0, (int)commands - 2) +
                             (uint32_t)b.random.range(8, 25),
                       word = b.random.chance(20)   ? 4u + i % 2
                              : b.random.chance(20) ? end + 1
                                                    : any;

        w[word] ^= (uint32_t)bits;
        w[word + 1] ^= (uint32_t)(bits >> 32);
        expect_fault(b, w, {HD_FAULT_BAD_CRC, HD_UNIT_FETCH, commands - 1, at + end * 4, true},
                     "CRC");
    }
}

/* Each region without the right that a unit needs, all others with every right. */
void test_rights(bench &b)
{
    const uint32_t read = b.source_region(), write = b.target_region();
    const uint64_t at = b.bus.base + kCommands + 64;
    trio t(b);

    t.load.region = t.weight.region = read & 15;
    t.store.region = write & 15;
    const std::vector<uint32_t> w = t.make().words;
    b.write(HD_REG_REGION_RIGHTS, ~(1u << read));
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_LOAD, 1, b.bus.base + kSource + 128, true},
                 "LOAD's right");
    b.write(HD_REG_REGION_RIGHTS, ~(0x10000u << write));
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_STORE, 3, b.bus.base + kTarget, true},
                 "STORE's right");
    t.load.region = 5, t.weight.region = 3;
    b.write(HD_REG_REGION_RIGHTS, ~(1u << 3));
    expect_fault(b, t.make().words,
                 {HD_FAULT_REGION_RIGHT, HD_UNIT_WEIGHT, 2, b.bus.base + kSource + 128, true},
                 "WEIGHT's right");
    b.write(HD_REG_REGION_RIGHTS, ~1u);
    expect_fault(b, w, {HD_FAULT_REGION_RIGHT, HD_UNIT_FETCH, 0, at, true}, "FETCH's right");
    b.write(HD_REG_REGION_RIGHTS, kRights);
}

void test_unit_faults(bench &b)
{
    trio t(b);

    t.load.space = HD_SPACE_WEIGHTS;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD space");
    t = trio(b), t.weight.space = HD_SPACE_SCRATCHPAD;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "WEIGHT space");
    t = trio(b), t.load.spad = 1;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD spad");
    t = trio(b), t.weight.spad = 1, t.weight.space = HD_SPACE_BIAS;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "biases of the scratchpad");
    t = trio(b), t.weight.spad = 1, t.weight.runs = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_WEIGHT, 2, 0, false},
                 "a matrix without rows");
    t = trio(b), t.load.runs = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "no runs");
    t = trio(b), t.store.row_bytes = 0;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_STORE, 3, 0, false},
                 "no row bytes");
    t = trio(b), t.load.row_bytes++;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_LOAD, 1, 0, false}, "LOAD bytes");
    t = trio(b), t.store.row_bytes--;
    expect_fault(b, t.make().words, {HD_FAULT_BAD_FIELD, HD_UNIT_STORE, 3, 0, false},
                 "STORE bytes");
    t = trio(b), t.load.offset = kSourceBytes - 1099;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 1, 0, false},
                 "LOAD limit");
    t = trio(b), t.weight.run_pitch = 0xffffff00;
    expect_fault(
        b, t.make().words,
        {HD_FAULT_REGION_LIMIT, HD_UNIT_WEIGHT, 2, b.bus.base + kSource + 128 + 0xffffff00, true},
        "WEIGHT pitch");
    t = trio(b), t.store.region = kNoRegion;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_STORE, 3, 0, true},
                 "STORE region");
    b.bus.fault_enable = true;
    b.bus.fault_address = b.bus.base + kSource + 128 + 600 + 10;
    t = trio(b), t.weight.offset = 40000;
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_READ, HD_UNIT_LOAD, 1,
                  b.bus.fault_address & ~(uint64_t)(CfgAxiBytes - 1), CfgAxiBytes <= 16},
                 "LOAD bus");
    b.bus.fault_address = b.bus.base + kTarget + 610;
    t = trio(b);
    expect_fault(b, t.make().words, {HD_FAULT_BUS_WRITE, HD_UNIT_STORE, 3, 0, false}, "STORE bus");
    b.bus.fault_address = b.bus.base + kCommands + 64 + 32 + 112 + 20;
    /* A wide beat also holds the end of command 0. */
    const uint64_t beat = b.bus.fault_address & ~(uint64_t)(CfgAxiBytes - 1);
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_READ, HD_UNIT_FETCH,
                  beat < b.bus.base + kCommands + 64 + 32 + 112 ? 0u : 1u, 0, false},
                 "FETCH bus");
    b.bus.fault_enable = false;
}

/* The stream itself anywhere: beyond its region, beyond the bus, no multiple of 16 bytes. */
void test_stream_faults(bench &b)
{
    const uint32_t room = kSource - kCommands, far = b.random.next() % (~0u - room) + room,
                   odd = 64 + (uint32_t)b.random.range(1, 15);
    const uint64_t at = b.bus.base + kCommands;

    b.launch(far, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, at + far, true}, "stream offset");
    b.launch(64, far);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, at + 64, true}, "stream length");
    b.launch(odd, 1024);
    check_fault(b, {HD_FAULT_BAD_FIELD, HD_UNIT_FETCH, 0, at + odd, true}, "stream's first byte");
    b.region(0, b.random.next() | 1ull << b.random.range(CfgAxiAddrBits, 63), ~0u);
    b.launch(64, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, 0, false},
                "stream of a region beyond the bus");
    b.region(0, at, room);
    b.bus.fault_enable = true;
    b.bus.fault_address = at + 64;
    const stream good = trio(b).make();
    expect_fault(b, good.words, {HD_FAULT_BUS_READ, HD_UNIT_FETCH, 0, at + 64, true}, "header bus");
    b.bus.fault_enable = false;
}

/* Regions that would reach beyond the bus end with it: the last byte is inside, the next is not. */
void test_end_of_bus(bench &b)
{
    const uint64_t base = b.bus.base;
    const uint32_t beyond = (uint32_t)b.random.range(0, 1 << 24) * 16;

    b.place(kBus - kTarget - kTargetBytes);
    const uint64_t commands = b.bus.base + kCommands, source = b.bus.base + kSource,
                   target = b.bus.base + kTarget;
    trio t(b);
    for (const auto &[r, at] : {std::pair{0u, commands}, {1u, source}, {2u, target}})
        b.region(r, at, 0x80000000 | b.random.next());
    t.store.offset = kTargetBytes - 1100;
    b.start(t.make().words, 0);
    if (b.wait())
        b.finish(false);
    t.load.offset = (uint32_t)(kBus - source) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_LOAD, 1, kBus + beyond, true},
                 "LOAD beyond the bus");
    t = trio(b), t.weight.offset = (uint32_t)(kBus - source) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_WEIGHT, 2, kBus + beyond, true},
                 "WEIGHT beyond the bus");
    t = trio(b), t.store.offset = (uint32_t)(kBus - target) + beyond;
    expect_fault(b, t.make().words, {HD_FAULT_REGION_LIMIT, HD_UNIT_STORE, 3, kBus + beyond, true},
                 "STORE beyond the bus");
    b.launch((uint32_t)(kBus - commands) + beyond, 1024);
    check_fault(b, {HD_FAULT_REGION_LIMIT, HD_UNIT_FETCH, 0, kBus + beyond, true},
                "stream beyond the bus");
    b.place(base);
}

/* One fault of a random transfer: `fields` is the command, in place of a good one. */
template <class T> fault spoil(bench &b, T &c, uint32_t unit, uint32_t command)
{
    const bool store = unit == HD_UNIT_STORE;
    const uint32_t size = store ? kTargetBytes : kSourceBytes, burst = 16 * CfgAxiBytes;
    const uint64_t first = b.bus.base + (store ? kTarget : kSource);
    fault f = {HD_FAULT_REGION_LIMIT, unit, command, 0, true};

    c.region = (store ? b.target_region() : b.source_region()) & 15;
    c.runs = c.rows = (uint32_t)b.random.range(2, 0xffff) & 0xffff;
    c.run_bytes = c.row_bytes = (uint32_t)b.random.range(1, 600);
    c.run_pitch = size + b.random.next() / 2;
    c.offset = (uint32_t)b.random.range(0, (int)size - 600);
    switch (b.random.range(0, 3)) {
    case 0: /* the first run is beyond */
        c.offset = size + b.random.next() % (~0u - size);
        f.address = first + c.offset;
        break;
    case 1: /* its end */
        c.offset = size - (uint32_t)b.random.range(1, 600);
        c.run_bytes = c.row_bytes = size + b.random.next() / 2;
        f.address = std::max(first + c.offset, (first + size) / burst * burst);
        break;
    case 2: /* the second run */ f.address = first + c.offset + c.run_pitch; break;
    default: /* other bytes in rows than in runs, noticed long before the limit */
        c.offset = (uint32_t)b.random.range(0, 4096);
        c.run_bytes = 0x10000 + b.random.next() / 2;
        c.runs = (uint32_t)b.random.range(1, 0xffff) & 0xffff;
        c.row_bytes = 1 + b.random.next() / 2;
        if ((uint64_t)c.runs * c.run_bytes == (uint64_t)c.rows * c.row_bytes)
            c.row_bytes++;
        f.code = HD_FAULT_BAD_FIELD;
        f.address = 0;
    }
    return f;
}

void test_random_faults(bench &b)
{
    const uint32_t before = (uint32_t)b.random.range(1, b.random.chance(10) ? 1000 : 30);

    for (uint32_t unit : {HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
        trio t(b);
        const fault f = unit == HD_UNIT_LOAD     ? spoil(b, t.load, unit, before)
                        : unit == HD_UNIT_WEIGHT ? spoil(b, t.weight, unit, before + 1)
                                                 : spoil(b, t.store, unit, before + 2);

        expect_fault(b, t.make(before).words, f, "random transfer");
    }
}

/* After a fault a command of ARRAY or VECTOR still ends. */
void test_fault_waits(bench &b)
{
    for (uint32_t opcode : {HD_OPCODE_ARRAY, HD_OPCODE_VECTOR}) {
        stream s(b.hash);
        hd_cmd_array slow = {};
        const uint64_t at = b.bus.base + kCommands + 64 + HD_HEADER_BYTES;

        slow.common.layer = 3000;
        s.add(slow, opcode, opcode == HD_OPCODE_ARRAY ? HD_UNIT_ARRAY : HD_UNIT_VECTOR);
        s.add(slow, 77, HD_UNIT_FETCH);
        s.end();
        expect_fault(b, s.words,
                     {HD_FAULT_BAD_OPCODE, HD_UNIT_FETCH, 1, at + HD_CMD_ARRAY_BYTES, true},
                     "opcode after a slow command");
        CHECK(b.read(HD_REG_CYCLES_LO) > 3000, "a slow command ends before the fault is told");
    }
}

/* A run ends exactly at the region's end: no fault. */
void test_limit_exact(bench &b)
{
    trio t(b);

    t.load.offset = kSourceBytes - 1100;
    t.store.offset = kTargetBytes - 1100;
    b.start(t.make().words, 0);
    if (b.wait())
        b.finish(false);
}

/* ------------------------------------------------------------------ reset */
void test_reset(bench &b)
{
    transfers t(b);
    const int n = b.random.range(0, 3000);

    random_bus(b);
    t.compose(30);
    b.start(t.s.words, 0);
    for (int i = 0; i < n; i++)
        b.cycle();
    b.started = false;
    b.write(HD_REG_CONTROL, HD_CONTROL_SOFT_RESET_MASK);
    int patience = 50000;
    while ((b.read(HD_REG_STATUS) & HD_STATUS_RESETTING_MASK) != 0 && patience-- > 0)
        continue;
    CHECK(b.read(HD_REG_STATUS) == 0, "status %x after reset at %d", b.read(HD_REG_STATUS), n);
    CHECK(b.bus.quiet(), "bus busy after reset");
    CHECK(b.bus.violation.empty(), "%s", b.bus.violation.c_str());
    CHECK(!b.d->irq_o, "interrupt after reset");
    CHECK(b.read(HD_REG_CYCLES_LO) == 0 && b.read(HD_REG_UNIT_DONE(0)) == 0,
          "counters after reset");
    test_transfers(b, 10);
}

/* ------------------------------------------------------------------ timing */
uint64_t done_at(const bench &b, uint32_t unit)
{
    for (const done_event &e : b.done)
        if (e.unit == unit)
            return e.cycle;
    return 0;
}

void expect_delay(const char *what, uint64_t from, uint64_t to, int expected)
{
    printf("  %-44s %d\n", what, (int)(to - from));
    CHECK(to - from == (uint64_t)expected, "%s: %d cycles, hw/accel.json has %d", what,
          (int)(to - from), expected);
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

/* LOAD, then STORE, then ARRAY, then VECTOR: each delay on the way. */
void test_delays(bench &b)
{
    stream s(b.hash);
    timing_trace t;
    hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 4 * N);
    hd_cmd_store store = one_run_store(N);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    const int chunk = std::min(CfgAxiBytes, 16);

    load.common.layer = 1;
    s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    wait_all(store.common, s, 1u << HD_UNIT_LOAD);
    store.common.layer = 2;
    s.add(store, HD_OPCODE_STORE, HD_UNIT_STORE);
    array.common.layer = 300;
    s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(vector.common, s, 1u << HD_UNIT_ARRAY);
    vector.common.layer = 20;
    s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.trace = &t;
    b.start(s.words, 0);
    b.wait();
    b.cycle();
    b.trace = nullptr;
    b.finish(false);
    const uint64_t first = t.taken[HD_UNIT_LOAD][0];
    expect_delay("doorbell to FETCH's ARVALID", t.doorbell, t.requests[HD_UNIT_FETCH][0],
                 HD_TIMING_FETCH_START + HD_TIMING_READ_GRANT);
    expect_delay("stream's first beat to taking the command", t.beats[HD_UNIT_FETCH][0], first,
                 HD_TIMING_FETCH_BEAT + HD_HEADER_BYTES / chunk + HD_TIMING_FETCH_CHECK +
                     HD_CMD_DMA_READ_BYTES / chunk + HD_TIMING_ISSUE_PUSH);
    expect_delay("taking LOAD to ARVALID", first, t.requests[HD_UNIT_LOAD][0],
                 HD_TIMING_BURST_REQUEST + HD_TIMING_READ_GRANT);
    expect_delay("beat to word", t.beats[HD_UNIT_LOAD][0], t.words[HD_UNIT_LOAD][0],
                 HD_TIMING_READ_WORD);
    expect_delay("last word to LOAD's done_o", t.words[HD_UNIT_LOAD].back(),
                 done_at(b, HD_UNIT_LOAD), HD_TIMING_READ_DONE);
    expect_delay("LOAD's done_o to taking STORE", done_at(b, HD_UNIT_LOAD),
                 t.taken[HD_UNIT_STORE][0], HD_TIMING_ISSUE_COUNT);
    expect_delay("taking STORE to WVALID", t.taken[HD_UNIT_STORE][0], t.written[0],
                 HD_TIMING_STORE_START);
    expect_delay("B to STORE's done_o", t.answers.back(), done_at(b, HD_UNIT_STORE),
                 HD_TIMING_STORE_DONE);
    expect_delay("ARRAY's done_o to taking VECTOR", done_at(b, HD_UNIT_ARRAY),
                 t.taken[HD_UNIT_VECTOR][0], HD_TIMING_ISSUE_COUNT);
    expect_delay("END's done_o to the interrupt", done_at(b, HD_UNIT_FETCH), t.irq,
                 HD_TIMING_END_IRQ);
}

void expect_count(const char *what, uint32_t found, uint32_t expected)
{
    printf("  %-44s %u\n", what, found);
    CHECK(found == expected, "%s: %u, hw/accel.json has %u", what, found, expected);
}

/* How many of `n` commands of one unit FETCH has handed over while they wait for a slow ARRAY
 * command; with the bus held, for their data. */
template <class T>
uint32_t handed(bench &b, T c, uint32_t opcode, uint32_t unit, int n, timing_trace *t)
{
    stream s(b.hash);
    hd_cmd_array slow = {};

    slow.common.layer = 1000;
    s.add(slow, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(c.common, s, 1u << HD_UNIT_ARRAY);
    for (int i = 0; i < n; i++)
        s.add(c, opcode, unit);
    s.end();
    b.trace = t;
    b.start(s.words, 0);
    const int most = b.bus.hold_reads || b.bus.hold_writes ? 2000 : 800;
    for (int i = 0; i < most; i++)
        b.cycle();
    b.trace = nullptr;
    const uint32_t found = b.read(HD_REG_UNIT_DONE(HD_UNIT_FETCH)) - 1;
    b.bus.hold_reads = 0;
    b.bus.hold_writes = false;
    if (b.wait())
        b.finish(false);
    return found;
}

void test_depths(bench &b)
{
    const uint32_t two_beats = 2 * std::max(N, CfgAxiBytes),
                   held = N + CfgAxiBytes + std::min(N, CfgAxiBytes);
    const hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, N),
                          weight = one_run_read(HD_SPACE_WEIGHTS, N);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    timing_trace t, words;

    expect_count("queue of LOAD", handed(b, load, HD_OPCODE_LOAD, HD_UNIT_LOAD, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of WEIGHT",
                 handed(b, weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of STORE",
                 handed(b, one_run_store(N), HD_OPCODE_STORE, HD_UNIT_STORE, 16, nullptr),
                 HD_TIMING_DMA_QUEUE);
    expect_count("queue of VECTOR", handed(b, vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR, 8, nullptr),
                 HD_TIMING_COMPUTE_QUEUE);
    const uint32_t queued = handed(b, array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY, 40, &t);
    expect_count("queue of ARRAY", queued, HD_TIMING_COMPUTE_QUEUE);
    /* Used: the header, the commands handed over, one that waits for its place. */
    const uint32_t used =
        (HD_HEADER_BYTES + (queued + 2) * HD_CMD_ARRAY_BYTES) / (uint32_t)CfgAxiBytes;
    expect_count("beats that FETCH has asked for", (uint32_t)t.beats[HD_UNIT_FETCH].size(),
                 (used + HD_TIMING_FETCH_BEATS) / HD_TIMING_BURST_BEATS * HD_TIMING_BURST_BEATS);
    b.bus.hold_reads = 1u << HD_UNIT_LOAD;
    expect_count("LOAD commands without data",
                 handed(b, load, HD_OPCODE_LOAD, HD_UNIT_LOAD, 16, nullptr) - HD_TIMING_DMA_QUEUE,
                 HD_TIMING_DMA_AHEAD + 1);
    b.bus.hold_writes = true;
    expect_count("STORE commands without data",
                 handed(b, one_run_store(two_beats), HD_OPCODE_STORE, HD_UNIT_STORE, 16, nullptr) -
                     HD_TIMING_DMA_QUEUE,
                 HD_TIMING_DMA_AHEAD + 1);
    /* Words read and not on the bus: hd_align holds the wider port and the narrower one twice, the
     * W channel a beat. */
    b.bus.hold_writes = true;
    handed(b, one_run_store(40 * N), HD_OPCODE_STORE, HD_UNIT_STORE, 1, &words);
    expect_count("words that STORE reads ahead", (uint32_t)words.reads - (held + CfgAxiBytes) / N,
                 HD_TIMING_STORE_WORDS);
}

/* Rows of a byte each: a beat is many words, and LOAD writes one a cycle. */
void test_slack(bench &b)
{
    stream s(b.hash);
    timing_trace t;
    hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 1);
    const uint32_t bytes = 60 * CfgAxiBytes;
    size_t written = 0;
    double most = 0;

    set_shape(load, {1, bytes, 0, bytes, 1, 0});
    s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
    s.end();
    b.trace = &t;
    b.start(s.words, 0);
    b.wait();
    b.trace = nullptr;
    b.finish(false);
    const std::vector<uint64_t> &beats = t.beats[HD_UNIT_LOAD], &words = t.words[HD_UNIT_LOAD];
    for (size_t i = 0; i < beats.size(); i++) {
        while (written < words.size() && words[written] <= beats[i] + HD_TIMING_READ_WORD)
            written++;
        most = std::max(most, (double)(i + 1) - (double)written / CfgAxiBytes);
    }
    expect_count("beats whose words LOAD lets wait", (uint32_t)most,
                 HD_TIMING_READ_SLACK - (N < CfgAxiBytes));
}

void test_timing(bench &b)
{
    b.bus.stall = 0;
    b.bus.latency = 20;
    b.d->noise_i = 0;
    printf("timing:\n");
    test_delays(b);
    test_depths(b);
    test_slack(b);
}

/* Regions of any number of bytes at any address: LOAD, WEIGHT and STORE reach the last byte; the
 * next one is beyond. */
void test_region_bytes(bench &b, uint32_t place)
{
    const uint32_t n = (uint32_t)b.random.range(100, 1000), from = kSource + place % 512,
                   to = kTarget + 1 + place / 512 % 512;
    const uint8_t before = b.bus.memory[to - 1], after = b.bus.memory[to + n];

    b.region(1, b.bus.base + from, n);
    b.region(2, b.bus.base + to, n);
    for (const uint32_t unit :
         std::array<uint32_t, 4>{HD_UNIT_COUNT, HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
        trio t(b);

        t.load = one_run_read(HD_SPACE_SCRATCHPAD, n + (unit == HD_UNIT_LOAD));
        t.weight = one_run_read(HD_SPACE_WEIGHTS, n + (unit == HD_UNIT_WEIGHT));
        t.store = one_run_store(n + (unit == HD_UNIT_STORE));
        if (unit == HD_UNIT_COUNT) {
            b.start(t.make().words, 64);
            if (b.wait())
                b.finish(false);
            CHECK(memcmp(&b.bus.memory[from], &b.bus.memory[to], n) == 0 &&
                      b.bus.memory[to - 1] == before && b.bus.memory[to + n] == after,
                  "%u bytes from %x to %x", n, from, to);
        } else {
            expect_fault(
                b, t.make().words,
                {HD_FAULT_REGION_LIMIT, unit, unit == HD_UNIT_STORE ? 3 : unit + 1, 0, false},
                "a byte beyond a region");
        }
    }
    b.place(b.bus.base);
}

/* Bytes of a run with one bit set are some bytes: too many, not none. */
void test_large_runs(bench &b)
{
    for (uint32_t k = 20; k < 32; k++)
        for (uint32_t unit : {HD_UNIT_LOAD, HD_UNIT_WEIGHT, HD_UNIT_STORE}) {
            trio t(b);

            t.load = one_run_read(HD_SPACE_SCRATCHPAD, unit == HD_UNIT_LOAD ? 1u << k : N);
            t.weight = one_run_read(HD_SPACE_WEIGHTS, unit == HD_UNIT_WEIGHT ? 1u << k : N);
            t.store = one_run_store(unit == HD_UNIT_STORE ? 1u << k : N);
            t.load.offset = t.weight.offset = kSourceBytes - N;
            t.store.offset = kTargetBytes - N;
            expect_fault(
                b, t.make().words,
                {HD_FAULT_REGION_LIMIT, unit, unit == HD_UNIT_STORE ? 3 : unit + 1, 0, false},
                "a run of one bit");
        }
}

/* An answer before the last beat of its burst, the first one after a reset. */
void test_early_answer(bench &b)
{
    trio t(b);

    b.bus.stall = 0;
    b.bus.answer_early = true;
    t.store = one_run_store(N);
    expect_fault(b, t.make().words,
                 {HD_FAULT_BUS_WRITE, HD_UNIT_STORE, 3, b.bus.base + kTarget, true},
                 "early answer");
    b.bus.answer_early = false;
}

/* ------------------------------------------------------------------ counts */
/* More commands than waits have numbers: 2^16 of each unit and some, their waits modulo 2^16. */
void test_counts(bench &b)
{
    constexpr uint32_t n = 0x10000 + 100, room = 0x2000000;
    stream s(b.hash);
    const hd_cmd_dma_read load = one_run_read(HD_SPACE_SCRATCHPAD, 1),
                          weight = one_run_read(HD_SPACE_WEIGHTS, 1);
    hd_cmd_array array = {};
    hd_cmd_vector vector = {};
    uint64_t at[HD_UNIT_COUNT] = {};

    b.bus.stall = 0;
    b.bus.latency = 1;
    b.d->noise_i = 0;
    for (uint32_t i = 0; i < n; i++) {
        s.add(load, HD_OPCODE_LOAD, HD_UNIT_LOAD);
        s.add(weight, HD_OPCODE_WEIGHT, HD_UNIT_WEIGHT);
        s.add(one_run_store(1), HD_OPCODE_STORE, HD_UNIT_STORE);
        s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
        wait_all(vector.common, s, i % 100 == 0 ? 31 : 0);
        s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    }
    array.common.layer = 0xffff;
    s.add(array, HD_OPCODE_ARRAY, HD_UNIT_ARRAY);
    wait_all(vector.common, s, 1u << HD_UNIT_ARRAY);
    vector.common.layer = 0xffff;
    s.add(vector, HD_OPCODE_VECTOR, HD_UNIT_VECTOR);
    s.end();
    b.bus.memory.resize(kMemory + room);
    b.region(0, b.bus.base + kMemory, room);
    memcpy(&b.bus.memory[kMemory], s.words.data(), s.words.size() * 4);
    b.launch(0, (uint32_t)s.words.size() * 4, s.words);
    if (!b.wait(20000000))
        return;
    for (const done_event &e : b.done)
        at[e.unit] = e.cycle;
    CHECK(at[HD_UNIT_ARRAY] < at[HD_UNIT_VECTOR], "VECTOR waits for ARRAY's command %u", n);
    CHECK(b.done.size() == s.commands, "%zu completions of %u", b.done.size(), s.commands);
    for (uint32_t u = 0; u < HD_UNIT_FETCH; u++)
        CHECK(b.read(HD_REG_UNIT_DONE(u)) == s.count[u], "done of unit %u", u);
    b.finish(false);
    b.place(b.bus.base);
    b.bus.memory.resize(kMemory);
    printf("counts: %u commands, %d failures\n", s.commands, failures);
}

/* ------------------------------------------------------------------ bandwidth */
double rate(const std::vector<uint64_t> &beats)
{
    return beats.size() < 2 ? 0
                            : (double)(beats.size() - 1) / (double)(beats.back() - beats.front());
}

void measure(bench &b, const char *name, uint32_t opcode, uint32_t commands, uint32_t bytes,
             uint32_t offset, uint32_t rows, double least)
{
    stream s(b.hash);
    const uint32_t unit = opcode == HD_OPCODE_LOAD     ? HD_UNIT_LOAD
                          : opcode == HD_OPCODE_WEIGHT ? HD_UNIT_WEIGHT
                                                       : HD_UNIT_STORE;

    for (uint32_t i = 0; i < commands; i++) {
        if (opcode == HD_OPCODE_STORE) {
            hd_cmd_store c = {};
            set_shape(c, {1, bytes, 0, rows, bytes / rows, offset + i * bytes});
            c.region = 2;
            c.src_pitch = words_of(bytes / rows);
            s.add(c, opcode, unit);
        } else {
            hd_cmd_dma_read c = {};
            set_shape(c, {1, bytes, 0, rows, bytes / rows, offset + i * bytes});
            c.region = 1;
            c.space = opcode == HD_OPCODE_LOAD ? HD_SPACE_SCRATCHPAD : HD_SPACE_WEIGHTS;
            c.dest_pitch = words_of(bytes / rows);
            s.add(c, opcode, unit);
        }
    }
    s.end();
    b.bus.keep = true;
    b.start(s.words, 0);
    b.wait();
    b.finish(false);
    b.bus.keep = false;
    /* The stream's own beats come first; its data are the last ones. */
    std::vector<uint64_t> &beats = opcode == HD_OPCODE_STORE ? b.bus.w_beats : b.bus.r_beats;
    const uint64_t data =
        (offset % CfgAxiBytes + (uint64_t)commands * bytes + CfgAxiBytes - 1) / CfgAxiBytes;
    if (beats.size() > data)
        beats.erase(beats.begin(), beats.end() - (long)data);
    printf("  %-34s latency %3d: %.4f beats a cycle, %.2f bytes, %llu cycles\n", name,
           (int)b.bus.latency, rate(beats), rate(beats) * CfgAxiBytes,
           (unsigned long long)(beats.back() - beats.front() + 1));
    CHECK(rate(beats) >= least, "%s: bandwidth", name);
    b.bus.r_beats.clear();
    b.bus.w_beats.clear();
}

void test_bandwidth(bench &b)
{
    /* A word a cycle bounds it if N is below the bus width, few bursts if latency is above what
     * they cover. */
    b.bus.stall = 0;
    b.d->noise_i = 0;
    for (int latency : {64, 200}) {
        const double covered = CfgReadBursts * 16.0 / (latency + 4);
        const double most = std::min({1.0, (double)N / CfgAxiBytes, covered});
        const double least = most * (most < 1 ? 0.85 : 0.999);
        const uint32_t big = std::min<uint32_t>(CfgWeightBytes, kSpadWords * N);

        b.bus.latency = (uint64_t)latency;
        measure(b, "WEIGHT, one run", HD_OPCODE_WEIGHT, 1, big, 0, 1, least);
        measure(b, "WEIGHT, unaligned", HD_OPCODE_WEIGHT, 1, big, 5, 1, least);
        measure(b, "WEIGHT, 8 commands", HD_OPCODE_WEIGHT, 8, big / 2, 0, 1, least);
        measure(b, "WEIGHT, 8 commands, unaligned", HD_OPCODE_WEIGHT, 8, big / 2 - CfgAxiBytes, 3,
                1, 0.9 * least);
        measure(b, "LOAD, one run", HD_OPCODE_LOAD, 1, big, 0, 1, least);
        measure(b, "LOAD, 8 commands, rows", HD_OPCODE_LOAD, 8, big / 2, 0, big / 2 / (8 * N),
                least);
        measure(b, "STORE, one run", HD_OPCODE_STORE, 1, big, 0, 1,
                std::min(1.0, (double)N / CfgAxiBytes) * 0.95);
        measure(b, "STORE, 4 commands, unaligned", HD_OPCODE_STORE, 4, big / 4, 7, 1,
                std::min(1.0, (double)N / CfgAxiBytes) * 0.9);
    }
    b.bus.latency = 10;
}

} // namespace

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    const int rounds = argc > 2 ? atoi(argv[2]) : 60;

    Verilated::commandArgs(argc, argv);
    printf("frame: N %d, bus %d bytes, seed %llu, %d rounds\n", N, CfgAxiBytes,
           (unsigned long long)seed, rounds);
    bench b(seed);
    b.setup();
    test_timing(b);
    test_registers(b, 1000);
    b.place(kBase);
    test_order(b);
    test_transfers(b, 3);
    for (int i = 0; i < rounds && failures == 0; i++) {
        b.move();
        test_transfers(b, b.random.range(1, 40));
    }
    printf("transfers: %d failures, up to %d reads outstanding\n", failures, b.bus.most_reads);
    for (int i = 0; i < 1 + rounds / 20 && failures == 0; i++) {
        random_bus(b);
        b.move();
        test_header_faults(b);
        test_stream_faults(b);
        test_end_of_bus(b);
        test_unit_faults(b);
        test_reserved(b);
        test_crc(b);
        test_rights(b);
        for (int k = 0; k < 4; k++)
            test_random_faults(b);
        test_fault_waits(b);
        test_limit_exact(b);
        const uint32_t place = b.random.next();
        test_region_bytes(b, place);
        test_region_bytes(b, ~place);
        test_large_runs(b);
        test_early_answer(b);
        test_transfers(b, 5);
    }
    printf("faults: %d failures\n", failures);
    for (int i = 0; i < rounds && failures == 0; i++)
        test_reset(b);
    printf("reset: %d failures\n", failures);
    b.place(kBase);
    if (failures == 0)
        test_bandwidth(b);
    for (int i = 0; i < rounds / 20 && failures == 0; i++)
        test_long_stream(b);
    if (failures == 0 && argc > 3 && strcmp(argv[3], "long") == 0)
        test_counts(b);
    b.d->final();
    printf("%s\n", failures == 0 ? "passed" : "FAILED");
    return failures != 0;
}
