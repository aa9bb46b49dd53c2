/* iss_elf.h - a program for the simulator: ELF, 32 bits, little-endian, RISC-V, linked to run at
 * fixed addresses. */
#ifndef HEDDLE_SIM_ISS_ELF_H
#define HEDDLE_SIM_ISS_ELF_H

#include <stddef.h>

#include "base/status.h"
#include "iss.h"

/* A function, or a label of assembly code or of the linker script. */
struct iss_symbol {
    uint32_t address;
    const char *name;
    const char *file; /* the source of a static function, "hd.c"; else "" */
};

struct iss_program {
    uint32_t entry;
    const struct iss_symbol *symbol; /* by address; at one address the first of the file */
    uint32_t n_symbol;               /* 0: it was stripped */
};

/* Copy the segments of `file`, n_bytes long, into the hart's mapped memory, zero what is only
 * reserved, fetch from the executable ones, set pc to the entry. Names point into the arena.
 * ST_USAGE, named by `path`: not such a file, damaged, or a segment outside the mapped memory. */
enum status iss_load(struct iss *c, struct arena *a, const char *path, const uint8_t *file,
                     size_t n_bytes, struct iss_program *program, struct diag *d);

/* Index of the symbol at or before an address, or n_symbol. */
uint32_t iss_symbol_at(const struct iss_program *p, uint32_t address);

/* The symbol of that name, or NULL. */
const struct iss_symbol *iss_symbol_named(const struct iss_program *p, const char *name);

/* "hd_wait + 0x24", or the address if no symbol is before it. */
const char *iss_place(struct arena *a, const struct iss_program *p, uint32_t address);

#endif
