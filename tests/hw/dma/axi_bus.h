/* axi_bus.h - the memory of frame_bench, an AXI4 slave of the bench (independent of sim/memory.h,
 * so that no mistake is made twice). Each cycle: sample() with settled signals before the edge,
 * drive() after it. First R beat `latency` cycles after AR, B `latency` cycles after the last W
 * beat, one beat a cycle. With `stall` (per cent) every channel pauses at random and bursts of
 * different IDs interleave beat by beat. Breaking a rule of AXI, or of docs/HARDWARE.md (16 beats,
 * 4 KiB, outstanding bursts, beats without AW), fills `violation`. */
#ifndef HEDDLE_TESTS_HW_AXI_BUS_H
#define HEDDLE_TESTS_HW_AXI_BUS_H

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "Vbench.h"
#include "hd_accel.h"
#include "tests/hw/wide.h"

struct axi_bus {
    static constexpr int width = CfgAxiBytes;

    struct burst {
        uint64_t address, ready;
        int id, beats, beat;
        bool error;
    };

    struct beat {
        uint8_t data[width];
        uint64_t strobe;
        bool last;
    };

    uint64_t base;
    std::vector<uint8_t> memory;
    uint64_t latency = 10;
    int stall = 0;
    uint32_t hold_reads = 0; /* bit mask of IDs whose beats are withheld */
    bool hold_writes = false;
    bool answer_early = false; /* B comes with AW, before the beats */
    bool fault_enable = false;
    uint64_t fault_address = 0; /* reads and writes of its beat get an error */
    rng &random;

    uint64_t now = 0;
    std::deque<burst> reads, writes, answers;
    std::deque<beat> early;                 /* beats may come before their AW is taken */
    std::vector<uint64_t> r_beats, w_beats; /* cycles of beats, if recorded */
    bool keep = false;
    std::string violation;
    int most_reads = 0;

    axi_bus(uint64_t base_, size_t bytes, rng &random_)
        : base(base_), memory(bytes), random(random_)
    {
    }

    bool quiet() const
    {
        return reads.empty() && writes.empty() && answers.empty() && early.empty();
    }

    void violate(const char *format, ...) __attribute__((format(printf, 2, 3)))
    {
        char text[200];
        va_list ap;

        va_start(ap, format);
        vsnprintf(text, sizeof text, format, ap);
        va_end(ap);
        if (violation.empty())
            violation = text;
    }

    bool beat_fails(uint64_t address) const
    {
        return address < base || address - base + width > memory.size() ||
               (fault_enable && fault_address / width == address / width);
    }

    void check_request(const char *what, uint64_t address, int len, int size, int type)
    {
        if (len > 15 || size != __builtin_ctz(width) || type != 1 || address % width != 0)
            violate("%s: len %d size %d burst %d address %llx", what, len, size, type,
                    (unsigned long long)address);
        if (address / 4096 != (address + (uint64_t)(len + 1) * width - 1) / 4096)
            violate("%s crosses 4 KiB", what);
    }

    /* A payload that was not accepted must stay. */
    struct held {
        bool valid = false;
        uint64_t a = 0, b = 0;
        bool broken(bool v, bool ready, uint64_t x, uint64_t y)
        {
            const bool bad = valid && (!v || a != x || b != y);

            valid = v && !ready;
            a = x;
            b = y;
            return bad;
        }
    };
    held held_ar, held_aw, held_w;
    size_t r_index = 0;
    bool r_taken = false, b_taken = false;

    void sample(Vbench &d)
    {
        if (held_ar.broken(d.m_arvalid_o, d.m_arready_i, d.m_araddr_o,
                           (uint64_t)d.m_arlen_o << 8 | d.m_arid_o))
            violate("AR changed while waiting");
        if (held_aw.broken(d.m_awvalid_o, d.m_awready_i, d.m_awaddr_o, d.m_awlen_o))
            violate("AW changed while waiting");
        uint64_t sum = 0;
        for (int i = 0; i < width; i++)
            sum = sum * 31 + get_field(d.m_wdata_o, i * 8, 8);
        if (held_w.broken(d.m_wvalid_o, d.m_wready_i, sum,
                          (uint64_t)d.m_wstrb_o << 1 | d.m_wlast_o))
            violate("W changed while waiting");
        if (d.m_arvalid_o && d.m_arready_i) {
            check_request("AR", d.m_araddr_o, d.m_arlen_o, d.m_arsize_o, d.m_arburst_o);
            reads.push_back({d.m_araddr_o, now + latency, d.m_arid_o, d.m_arlen_o + 1, 0, false});
            if ((int)reads.size() > most_reads)
                most_reads = (int)reads.size();
            if (most_reads > CfgReadBursts)
                violate("%d reads outstanding", most_reads);
        }
        if (d.m_rvalid_i && d.m_rready_o) {
            if (keep)
                r_beats.push_back(now);
            burst &b = reads[r_index];
            if (++b.beat == b.beats)
                reads.erase(reads.begin() + (long)r_index);
            r_taken = true;
        }
        if (d.m_awvalid_o && d.m_awready_i) {
            if (d.m_awid_o != HD_UNIT_STORE)
                violate("AW has ID %d", d.m_awid_o);
            check_request("AW", d.m_awaddr_o, d.m_awlen_o, d.m_awsize_o, d.m_awburst_o);
            writes.push_back({d.m_awaddr_o, 0, d.m_awid_o, d.m_awlen_o + 1, 0, false});
            if (answer_early)
                answers.push_back(writes.back());
        }
        if (d.m_wvalid_o && d.m_wready_i) {
            if (keep)
                w_beats.push_back(now);
            beat b = {{}, (uint64_t)d.m_wstrb_o, d.m_wlast_o != 0};
            for (int i = 0; i < width; i++)
                b.data[i] = (uint8_t)get_field(d.m_wdata_o, i * 8, 8);
            early.push_back(b);
            if (writes.empty() && early.size() > 16)
                violate("beats without AW");
        }
        while (!writes.empty() && !early.empty()) {
            take_beat(early.front());
            early.pop_front();
        }
        if (d.m_bvalid_i && d.m_bready_o) {
            answers.pop_front();
            b_taken = true;
        }
    }

    void take_beat(const beat &w)
    {
        burst &b = writes.front();
        const uint64_t address = b.address + (uint64_t)b.beat * width;

        if (beat_fails(address))
            b.error = true;
        else
            for (int i = 0; i < width; i++)
                if (w.strobe >> i & 1)
                    memory[address - base + (uint64_t)i] = w.data[i];
        if ((++b.beat == b.beats) != w.last)
            violate("WLAST %d at beat %d of %d", w.last, b.beat, b.beats);
        if (b.beat == b.beats) {
            b.ready = now + latency;
            if (!answer_early)
                answers.push_back(b);
            writes.pop_front();
        }
    }

    void drive(Vbench &d)
    {
        now++;
        if (r_taken)
            d.m_rvalid_i = 0;
        if (b_taken)
            d.m_bvalid_i = 0;
        r_taken = b_taken = false;
        d.m_arready_i = !random_stall();
        d.m_awready_i = !random_stall();
        d.m_wready_i = !hold_writes && !(answer_early && !answers.empty()) && !random_stall();
        if (!d.m_rvalid_i && !reads.empty() && !random_stall())
            present(d);
        if (!d.m_bvalid_i && !answers.empty() && answers.front().ready <= now && !random_stall()) {
            d.m_bvalid_i = 1;
            d.m_bid_i = answers.front().id;
            d.m_bresp_i = answers.front().error ? error_code() : 0;
        }
    }

    uint8_t error_code() /* SLVERR or DECERR */
    {
        return random.chance(50) ? 2 : 3;
    }

    bool random_stall()
    {
        return stall != 0 && random.chance(stall);
    }

    /* Present beats: any ID's oldest burst may continue; without stalls strictly the oldest one. */
    void present(Vbench &d)
    {
        std::vector<size_t> can;
        uint32_t seen = 0;

        for (size_t i = 0; i < reads.size(); i++) {
            if (hold_reads >> reads[i].id & 1)
                continue;
            if ((seen >> reads[i].id & 1) == 0 && reads[i].ready <= now)
                can.push_back(i);
            seen |= 1u << reads[i].id;
            if (stall == 0)
                break;
        }
        if (can.empty())
            return;
        r_index = can[(size_t)random.range(0, (int)can.size() - 1)];
        const burst &b = reads[r_index];
        const uint64_t address = b.address + (uint64_t)b.beat * width;
        const bool fails = beat_fails(address);

        for (int i = 0; i < width; i++)
            set_field(d.m_rdata_i, i * 8, 8, fails ? 0xee : memory[address - base + (uint64_t)i]);
        d.m_rvalid_i = 1;
        d.m_rid_i = (uint8_t)b.id;
        d.m_rlast_i = b.beat + 1 == b.beats;
        d.m_rresp_i = fails ? error_code() : 0;
    }
};

#endif
