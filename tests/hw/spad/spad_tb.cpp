/* spad_tb.cpp - hd_spad against a byte array: all ports at random in a narrow range of addresses,
 * so that banks collide all the time. Checked in every cycle: the lanes asked for, when ARRAY freezes, who must be taken, other bytes of a word that is written. At the end
 * every byte. Arguments: [seed [cycles]]. */
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Vbench.h"
#include "tests/hw/wide.h"

namespace
{
constexpr int N = CfgN, G = CfgPorts, banks = CfgBanks;
constexpr uint32_t n_bytes = CfgScratchpadBytes, mask = n_bytes - 1, n_words = n_bytes / N;
constexpr int address_bits = __builtin_ctz(n_bytes);
constexpr uint32_t window = 40; /* words in play */

/* Return a byte of the window, or one whose address differs from that in one bit. */
uint32_t near(rng &r, uint32_t base)
{
    uint32_t addr = (base + r.next() % (window * N)) & mask;

    return r.chance(10) ? addr ^ 1u << r.range(0, address_bits - 1) : addr;
}

/* One reader of a word pair. */
struct pair_port {
    bool req = false;
    uint32_t addr = 0, lo = 0, hi = 0;

    void choose(rng &r, uint32_t base, int percent)
    {
        req = r.chance(percent);
        addr = near(r, base);
        lo = (uint32_t)r.range(0, N - 1);
        hi = (uint32_t)r.range((int)lo + 1, N);
        if (r.chance(50)) {
            lo = 0;
            hi = N;
        }
    }
    /* Return the words it needs, -1 for none. */
    int64_t need(int second) const
    {
        uint32_t off = addr % N;
        bool wanted = second ? off + hi > N : off + lo < N;
        return req && wanted ? (int64_t)((addr / N + (uint32_t)second) % n_words) : -1;
    }
};

/* The next value of a port. */
struct answer {
    bool valid = false;
    uint32_t off = 0, lo = 0, hi = 0;
    uint8_t lane[N];
    bool any[N]; /* written in the same cycle, so not compared */
};

struct bench {
    std::unique_ptr<Vbench> dut{new Vbench};
    std::vector<uint8_t> image = std::vector<uint8_t>(n_bytes);
    rng r;
    uint32_t base;
    pair_port array[G], vector[2];
    answer next[G], shown[G]; /* next: available one cycle later */
    answer vector_next[2], vector_shown[2];
    bool store_req = false, store_next = false, load_req = false;
    uint32_t store_word = 0, load_word = 0, frozen = 0;
    uint8_t store_bytes[N], load_bytes[N];
    bool store_any[N];
    uint32_t load_be = 0;
    bool array_new = true;
    bool result = false; /* granted in the previous cycle, written in this one */
    uint32_t result_addr = 0, result_count = 0;
    uint8_t result_bytes[N];
    long freezes = 0, waits = 0, failures = 0;

    explicit bench(uint64_t seed) : r(seed), base(n_bytes - window / 2 * N)
    {
        dut->rst_ni = 0;
        tick();
        tick();
        dut->rst_ni = 1;
        for (uint32_t i = 0; i < n_bytes; i++)
            image[i] = (uint8_t)r.next();
        for (uint32_t w = 0; w < n_words; w++) {
            dut->lw_valid_i = 1;
            dut->lw_word_i = (uint16_t)w;
            dut->lw_be_i = (1ull << N) - 1;
            for (int b = 0; b < N; b++)
                set_field(dut->lw_data_i, b * 8, 8, image[w * N + (uint32_t)b]);
            tick();
        }
        dut->lw_valid_i = 0;
    }

    void tick()
    {
        dut->clk_i = 0;
        dut->eval();
        dut->clk_i = 1;
        dut->eval();
    }

    void check(bool ok, const char *what)
    {
        if (!ok && failures++ < 10)
            printf("  wrong: %s\n", what);
    }

    /* Measure STORE's read of a word alone: cycles from its grant to its bytes. */
    void check_latency()
    {
        int cycles = 0;
        bool found = false;

        dut->sr_req_i = 1;
        dut->sr_word_i = 1;
        while (!found && cycles < 9) {
            tick();
            cycles++;
            dut->sr_req_i = 0;
            found = true;
            for (uint32_t b = 0; b < N; b++)
                found = found && get_field(dut->sr_data_o, (int)b * 8, 8) == image[N + b];
        }
        check(cycles == 1, "cycles of a read");
    }

    /* In this cycle. */
    bool written(uint32_t byte) const
    {
        const bool load = load_req && dut->lw_ready_o && byte / N == load_word;

        return (load && load_be >> byte % N & 1) ||
               (result && ((byte - result_addr) & mask) < result_count);
    }

    answer read(const pair_port &p) const
    {
        answer a;
        a.valid = true;
        a.off = p.addr % N;
        a.lo = p.lo;
        a.hi = p.hi;
        for (uint32_t l = 0; l < N; l++) {
            a.lane[l] = image[(p.addr + l) & mask];
            a.any[l] = written((p.addr + l) & mask);
        }
        return a;
    }

    template <class T> bool shows(const T &data, int port, const answer &a) const
    {
        for (uint32_t l = a.lo; l < a.hi; l++)
            if (!a.any[l] && get_field(data, (port * 2 * N + (int)(a.off + l)) * 8, 8) != a.lane[l])
                return false;
        return true;
    }

    /* Return true if a write would hit words for which an ARRAY request waits: they may be read in
     * any of its cycles. */
    bool spared(uint32_t w) const
    {
        for (const pair_port &p : array)
            if (p.need(0) == w || p.need(1) == w)
                return true;
        return false;
    }

    /* A word that is, or may be, written in this cycle. */
    bool changes(int64_t w) const
    {
        const uint32_t first = result_addr / N,
                       last = ((result_addr + result_count - 1) & mask) / N;

        return (load_req && w == load_word) || (result && (w == first || w == last));
    }

    void drive_readers()
    {
        if (array_new) {
            int busy = r.chance(30) ? 0 : r.range(20, 100);
            for (pair_port &p : array)
                do {
                    p.choose(r, base, busy);
                } while (changes(p.need(0)) || changes(p.need(1)));
        }
        for (int g = 0; g < G; g++) {
            set_field(dut->ar_need0_i, g, 1, array[g].need(0) >= 0);
            set_field(dut->ar_need1_i, g, 1, array[g].need(1) >= 0);
            for (int b = 0; b < address_bits; b++)
                set_field(dut->ar_addr_i, g * address_bits + b, 1, array[g].addr >> b & 1);
        }
        for (int v = 0; v < 2; v++) {
            set_field(dut->vr_req_i, v, 1, vector[v].req);
            for (int b = 0; b < address_bits; b++)
                set_field(dut->vr_addr_i, v * address_bits + b, 1, vector[v].addr >> b & 1);
            set_field(dut->vr_next_i, v, 1, vector[v].need(1) >= 0);
        }
        dut->sr_req_i = store_req;
        dut->sr_word_i = (uint16_t)store_word;
    }

    void drive_writers()
    {
        uint32_t addr = near(r, base), n = (uint32_t)r.range(1, N);

        dut->qw_valid_i = r.chance(50) && !spared(addr / N) && !spared((addr / N + 1) % n_words);
        dut->qw_addr_i = addr;
        dut->qw_count_i = (uint8_t)n;
        for (int b = 0; b < N; b++)
            set_field(dut->qw_data_i, b * 8, 8, r.next() & 255);
        if (!load_req) {
            load_req = r.chance(60);
            load_word = near(r, base) / N;
            load_req = load_req && !spared(load_word);
            load_be = r.next();
            for (uint8_t &x : load_bytes)
                x = (uint8_t)r.next();
        }
        dut->lw_valid_i = load_req;
        dut->lw_word_i = (uint16_t)load_word;
        dut->lw_be_i = load_be & (uint32_t)((1ull << N) - 1);
        for (int b = 0; b < N; b++)
            set_field(dut->lw_data_i, b * 8, 8, load_bytes[b]);
    }

    /* A request's first cycle freezes if and only if two of its words are in one bank. */
    bool collides() const
    {
        for (int i = 0; i < 2 * G; i++)
            for (int j = 0; j < i; j++) {
                int64_t a = array[i / 2].need(i % 2), b = array[j / 2].need(j % 2);
                if (a >= 0 && b >= 0 && a != b && a % banks == b % banks)
                    return true;
            }
        return false;
    }

    /* VECTOR and STORE are granted if no port before them reads another word of one of their
     * banks. */
    void check_turns()
    {
        std::vector<int64_t> taken;
        auto fits = [&taken](int64_t first, int64_t second) {
            for (int64_t word : {first, second})
                for (int64_t other : taken)
                    if (word >= 0 && word != other && word % banks == other % banks)
                        return false;
            taken.insert(taken.end(), {first, second});
            return true;
        };

        for (const pair_port &p : array)
            (void)fits(p.need(0), p.need(1));
        for (int v = 0; v < 2; v++)
            check((dut->vr_ready_o >> v & 1) ==
                      (vector[v].req && fits(vector[v].need(0), vector[v].need(1))),
                  "who of VECTOR is taken");
        check(dut->sr_ready_o == (store_req && fits(store_word, -1)), "whether STORE is taken");
    }

    void check_grants()
    {
        if (array_new && !collides())
            check_turns();
        if (array_new)
            check(dut->ar_en_o == !collides(), "ar_en_o in the first cycle of a request");
        frozen = dut->ar_en_o ? 0 : frozen + 1;
        freezes += !dut->ar_en_o;
        check(frozen < 2 * G, "a request ends within 2 G cycles");
        const uint32_t end = (result_addr + result_count - 1) / N % banks;
        check(dut->lw_ready_o != (result && (load_word % banks == result_addr / N % banks ||
                                             load_word % banks == end)),
              "load waits for a bank of a result");
        waits += load_req && !dut->lw_ready_o;
    }

    /* The values after the edge that follow from this cycle's grants, then this cycle's writes. */
    void expect()
    {
        array_new = dut->ar_en_o;
        for (int g = 0; g < G; g++) {
            shown[g] = next[g];
            next[g] = read(array[g]);
            next[g].valid = array_new && array[g].req;
        }
        for (int v = 0; v < 2; v++) {
            if (vector_next[v].valid)
                vector_shown[v] = vector_next[v];
            vector_next[v].valid = false;
            if (vector[v].req && dut->vr_ready_o >> v & 1)
                vector_next[v] = read(vector[v]);
            if (!vector[v].req || (dut->vr_ready_o >> v & 1)) {
                vector[v].choose(r, base, 60);
                vector[v].lo = 0;
            }
        }
        store_next = store_req && dut->sr_ready_o;
        if (store_next)
            memcpy(store_bytes, &image[store_word * N], N);
        for (uint32_t b = 0; b < N; b++)
            store_any[b] = written(store_word * N + b);
        if (!store_req || store_next) {
            store_req = r.chance(60);
            store_word = near(r, base) / N;
        }
        if (load_req && dut->lw_ready_o) {
            for (uint32_t b = 0; b < N; b++)
                if (load_be >> b & 1)
                    image[load_word * N + b] = load_bytes[b];
            load_req = false;
        }
        for (uint32_t b = 0; b < result_count && result; b++)
            image[(result_addr + b) & mask] = result_bytes[b];
        result = dut->qw_valid_i;
        result_addr = dut->qw_addr_i;
        result_count = dut->qw_count_i;
        for (int b = 0; b < N; b++)
            result_bytes[b] = (uint8_t)get_field(dut->qw_data_i, b * 8, 8);
    }

    void check_data()
    {
        for (int g = 0; g < G; g++)
            check(!shown[g].valid || shows(dut->ar_data_o, g, shown[g]), "ARRAY's data");
        for (int v = 0; v < 2; v++)
            check(!vector_shown[v].valid || shows(dut->vr_data_o, v, vector_shown[v]),
                  "VECTOR's data");
        for (int b = 0; b < N && store_next; b++)
            check(store_any[b] || get_field(dut->sr_data_o, b * 8, 8) == store_bytes[b],
                  "STORE's data");
    }

    void cycle()
    {
        drive_readers();
        drive_writers();
        dut->clk_i = 0;
        dut->eval();
        check_grants();
        expect();
        dut->clk_i = 1;
        dut->eval();
        check_data();
    }

    void compare()
    {
        dut->ar_need0_i = dut->ar_need1_i = dut->vr_req_i = dut->qw_valid_i = dut->lw_valid_i = 0;
        dut->sr_req_i = 1;
        for (uint32_t w = 0; w < n_words; w++) {
            dut->sr_word_i = (uint16_t)w;
            tick();
            for (uint32_t b = 0; b < N; b++)
                check(get_field(dut->sr_data_o, (int)b * 8, 8) == image[w * N + b],
                      "a byte at the end");
        }
    }
};
} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
    long cycles = argc > 2 ? atol(argv[2]) : 200000;
    bench b(seed);

    printf("spad_tb N=%d: %llu %ld\n", N, (unsigned long long)seed, cycles);
    b.check_latency();
    for (long i = 0; i < cycles; i++)
        b.cycle();
    while (!b.array_new || b.load_req || b.result) /* a request is never withdrawn */
        b.cycle();
    b.compare();
    printf("spad_tb N=%d: %ld failures, %ld frozen cycles, %ld waits of LOAD\n", N, b.failures,
           b.freezes, b.waits);
    return b.failures != 0 || (G > 1 && b.freezes == 0);
}
