// core_memory.h - the memory at a core's port, by the ports that the core has (README.md): the
// narrow one, answered in the next cycle, or the wide one with ready/valid.
//   sample(): settled signals before a rising edge: handshakes, rules.
//   drive():  inputs for the next cycle, after the edge.
#ifndef HEDDLE_SIM_CORE_MEMORY_H
#define HEDDLE_SIM_CORE_MEMORY_H

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>

#include "hd_sim.h"

struct CoreBytes {
    hd_sim_options options{};
    hd_sim_totals totals{};
    std::string failure; // the first; empty: none

    __attribute__((format(printf, 2, 3))) void fail(const char *format, ...)
    {
        char text[240];
        va_list ap;

        if (!failure.empty())
            return;
        va_start(ap, format);
        (void)vsnprintf(text, sizeof text, format, ap);
        va_end(ap);
        failure = text;
    }

    void outside(const char *what, uint64_t at)
    {
        fail("the core %s byte 0x%" PRIx64 " in cycle %" PRIu64 ", its memory has 0x%" PRIx64, what,
             at, totals.cycles, options.memory_bytes);
    }

    // n bytes at `at`; those beyond the end are 0.
    void read(uint64_t at, void *to, uint64_t n)
    {
        memset(to, 0, n);
        if (at >= options.memory_bytes)
            return outside("reads", at);
        const uint64_t left = options.memory_bytes - at, inside = left < n ? left : n;
        memcpy(to, options.memory + at, inside);
        totals.read_bytes += inside;
    }

    void write(uint64_t at, const uint8_t *from, uint64_t n, uint64_t strobe)
    {
        for (uint64_t i = 0; i < n; i++) {
            if (!(strobe >> i & 1))
                continue;
            if (at + i >= options.memory_bytes)
                return outside("writes", at + i);
            options.memory[at + i] = from[i];
            totals.write_bytes++;
        }
    }
};

template <class Top, class = void> struct CoreMemory : CoreBytes {
    static constexpr uint32_t kBits = 0; // no handshake
    bool reads_ = false;
    uint64_t word_ = 0;

    void sample(const Top &top)
    {
        if (top.mem_write_o != 0) {
            uint8_t bytes[8];
            memcpy(bytes, &top.mem_wdata_o, sizeof bytes);
            write(top.mem_addr_o, bytes, sizeof bytes, top.mem_wstrb_o);
        }
        reads_ = top.mem_read_o != 0;
        if (reads_)
            read(top.mem_addr_o, &word_, sizeof word_);
    }

    void drive(Top &top) const
    {
        if (reads_)
            top.mem_rdata_i = word_;
    }

    void check_done(const Top &)
    {
    }

    void seed(uint64_t)
    {
    }
};

// Reads are answered in order, `latency` cycles after their request, with the bytes of that moment;
// a write lands at its handshake. bytes_per_cycle each way. With a seed ready and the answers stall.
template <class Top>
struct CoreMemory<Top, std::void_t<decltype(std::declval<Top &>().rd_valid_o)>> : CoreBytes {
    using Word = std::remove_reference_t<decltype(std::declval<Top &>().wr_data_o)>;
    static constexpr uint32_t kBytes = sizeof(Word), kBits = 8 * kBytes;
    static constexpr uint32_t kReads = 256;  // under way, at most
    static constexpr uint32_t kWait = 10000; // cycles that an answer may wait for rsp_ready_o

    struct Write {
        uint32_t address;
        uint64_t strobe;
        uint8_t data[kBytes];
    };
    struct Read {
        uint32_t address;
        uint64_t ready;
    };
    std::deque<Read> reads_;
    bool rd_ready_ = false, wr_ready_ = false, rsp_valid_ = false, done_ = false;
    bool rd_held_ = false, wr_held_ = false;
    uint32_t rd_was_ = 0, waited_ = 0;
    Write wr_was_{};
    uint64_t r_free_ = 0, w_free_ = 0; // as Memory (sim/memory.h)
    uint64_t random_ = 0;
    uint32_t stall_[3] = {};

    uint64_t rate() const
    {
        const uint32_t n = options.bytes_per_cycle;
        return n != 0 && n < kBytes ? n : kBytes;
    }

    void seed(uint64_t seed)
    {
        random_ = options.stall_seed != 0 ? seed * 0x9e3779b97f4a7c15u | 1 : 0;
        for (uint32_t &stall : stall_)
            stall = 0;
    }

    void take(uint64_t &free) const
    {
        const uint64_t back = totals.cycles * rate() - rate() + 1;
        free = (free > back ? free : back) + kBytes;
    }

    // Held and left before ready, or changed.
    void check_held(const char *channel, bool valid)
    {
        if (!valid)
            fail("%s, cycle %" PRIu64 ": expected valid until ready, found that it fell", channel,
                 totals.cycles);
    }

    void check_same(const char *channel, const char *what, uint64_t was, uint64_t is)
    {
        if (was != is)
            fail("%s, cycle %" PRIu64 ": %s changed while waiting for ready: expected 0x%" PRIx64
                 ", found 0x%" PRIx64,
                 channel, totals.cycles, what, was, is);
    }

    void check_address(const char *channel, uint32_t at)
    {
        if (at % kBytes != 0)
            fail("%s, cycle %" PRIu64 ": expected an address that %u divides, found 0x%x", channel,
                 totals.cycles, kBytes, at);
        if (at >= options.memory_bytes)
            fail("%s, cycle %" PRIu64 ": expected an address below 0x%" PRIx64 ", found 0x%x",
                 channel, totals.cycles, options.memory_bytes, at);
    }

    void sample(const Top &top)
    {
        if (top.rst_ni == 0)
            return;
        sample_read(top);
        sample_answer(top);
        sample_write(top);
        check_done(top);
    }

    void check_done(const Top &top)
    {
        if (top.irq_o != 0 && !done_ && !reads_.empty())
            fail("irq_o, cycle %" PRIu64 ": expected every read answered, found %zu under way",
                 totals.cycles, reads_.size());
        done_ = top.irq_o != 0;
    }

    void sample_read(const Top &top)
    {
        const uint32_t at = top.rd_addr_o;

        if (rd_held_) {
            check_held("rd", top.rd_valid_o != 0);
            check_same("rd", "address", rd_was_, at);
        }
        rd_held_ = top.rd_valid_o != 0 && !rd_ready_;
        rd_was_ = at;
        if (top.rd_valid_o == 0)
            return;
        check_address("rd", at);
        const uint64_t latency = options.latency != 0 ? options.latency : 1;
        if (rd_ready_)
            reads_.push_back({at, totals.cycles + latency});
    }

    void sample_answer(const Top &top)
    {
        if (rsp_valid_ && top.rsp_ready_o != 0) {
            reads_.pop_front();
            rsp_valid_ = false;
            waited_ = 0;
        } else if (rsp_valid_ && ++waited_ > kWait) {
            fail("rsp, cycle %" PRIu64 ": expected ready within %u cycles of valid, found none",
                 totals.cycles, kWait);
        }
    }

    void sample_write(const Top &top)
    {
        Write is{top.wr_addr_o, top.wr_strb_o, {}};

        memcpy(is.data, &top.wr_data_o, kBytes);
        if (wr_held_) {
            check_held("wr", top.wr_valid_o != 0);
            check_same("wr", "address", wr_was_.address, is.address);
            check_same("wr", "strobe", wr_was_.strobe, is.strobe);
            for (uint32_t i = 0; i < kBytes; i++)
                check_same("wr", "data", wr_was_.data[i], is.data[i]);
        }
        wr_held_ = top.wr_valid_o != 0 && !wr_ready_;
        wr_was_ = is;
        if (top.wr_valid_o == 0)
            return;
        check_address("wr", is.address);
        if (!wr_ready_ || !failure.empty())
            return;
        write(is.address, is.data, kBytes, is.strobe);
        take(w_free_);
    }

    // Three of four cycles go on; else a stall of 1 to 8.
    bool stalls(uint32_t channel)
    {
        if (random_ == 0)
            return false;
        if (stall_[channel] != 0)
            return --stall_[channel] != 0;
        random_ ^= random_ >> 12; // xorshift64* (Vigna 2016)
        random_ ^= random_ << 25;
        random_ ^= random_ >> 27;
        const uint64_t r = random_ * 0x2545f4914f6cdd1du >> 32;
        if ((r & 3) == 0)
            stall_[channel] = 1 + (r >> 8 & 7);
        return stall_[channel] != 0;
    }

    // After totals.cycles went on: it is the next cycle.
    void drive(Top &top)
    {
        const uint64_t now = totals.cycles;

        top.rd_ready_i = rd_ready_ = reads_.size() < kReads && !stalls(0);
        top.wr_ready_i = wr_ready_ = !stalls(1) && now * rate() >= w_free_;
        if (!rsp_valid_ && !reads_.empty() && reads_[0].ready <= now && !stalls(2) &&
            now * rate() >= r_free_ && failure.empty()) {
            rsp_valid_ = true;
            read(reads_[0].address, &top.rsp_data_i, kBytes);
            take(r_free_);
        }
        top.rsp_valid_i = rsp_valid_;
    }
};

#endif
