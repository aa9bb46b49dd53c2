/* frame_tb.cpp - the accelerator's frame (hd_top without compute units) on a bus of the bench's
 * own.
 *   timing     delays and depths against accel.json's timing
 *   registers  random words and strobes at every address against a plain array
 *   order      waits of ARRAY and VECTOR, END after all; a stream longer than the buffer of FETCH
 *   transfers  random LOAD, WEIGHT, STORE with waits: every word written, all of memory, counters
 *              that add up
 *   regions    of any number of bytes at any address: the last byte, and the next one
 *   faults     header, opcode, length, fields, limits, bus errors, each also with random numbers up
 *   to the field's size; every reserved bit, the CRC, rights of regions: cause, unit,
 *              command, address; restart
 *   reset      soft reset at a random cycle; the bus is drained; restart
 *   bandwidth  beats a cycle of long streams, printed
 *   counts     (argument `long`) more than 2^16 commands of each unit, so that waits wrap
 * Memory and regions lie at another random address in each round of transfers and faults.
 * Arguments: [seed [rounds [long]]]. Environment: BENCH_FIRST, the first failure ends it. */
#include "frame_bandwidth.h"
#include "frame_counts.h"
#include "frame_faults.h"
#include "frame_order.h"
#include "frame_regions.h"
#include "frame_registers.h"
#include "frame_reset.h"
#include "frame_timing.h"
#include "frame_transfers.h"

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
