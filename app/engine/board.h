/* board.h - the processor of --host=iss with the accelerator and cores of other targets: RAM, registers and memory of each,
 * semihosting.
 * in:  the package's program (ELF), the job's inputs, the Verilated model.   out: outputs, cycles.
 * One time: the model is advanced by the cycles of each instruction while a submission runs, and by those of register
 * accesses; while none runs it is not evaluated. Semihosting takes no time but its own instructions. */
#ifndef HEDDLE_ENGINE_BOARD_H
#define HEDDLE_ENGINE_BOARD_H

#include "app/job/job.h"

/* Addresses of the processor, and of the accelerator, which sees its memory where the processor does. */
#define BOARD_RAM             0x80000000u
#define BOARD_RAM_BYTES       (64u << 20)
#define BOARD_REGISTERS       0x40000000u
#define BOARD_REGISTERS_BYTES 0x1000u
#define BOARD_MEMORY          0x50000000u
#define BOARD_MEMORY_BYTES    (64u << 20)
#define BOARD_PROGRAM_BYTES   (16u << 20) /* the part that a program of --prog has */
/* Addresses of core i of another target, counted from 0; memories one after another, each from a
 * multiple of BOARD_CORE_ALIGN on. */
#define BOARD_CORES                4u
#define BOARD_CORE_REGISTERS(i)    (0x48000000u + BOARD_CORE_REGISTERS_BYTES * (i))
#define BOARD_CORE_REGISTERS_BYTES 0x10000u
#define BOARD_CORE_MEMORY          0x60000000u /* the first; up to BOARD_RAM */
#define BOARD_CORE_ALIGN           0x1000u

struct core_targets;

/* Address of core i's memory, or of the end of all if i is their number; 0: they do not fit. */
uint32_t board_core_memory(const struct core_targets *cores, uint32_t i);

/* Inferences process, process + n_process, ... of the job, into job->out and run_results(job,
 * process). elf: the program. sim: the Verilated model; path NULL without accelerator.
 * ST_DEVICE: the program does not end, fails or traps, with the function's name; ST_INTERNAL: the
 * program or the model cannot be loaded. */
enum status board_run(struct run_job *job, uint32_t process, const char *elf,
                      const struct sim_model *sim, struct diag *d);

#endif
