/* iss_elf.h - load a program into the simulator: ELF, 32 bits, little-endian, RISC-V, linked for
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
    const char *file; /* source of a static function, "hd.c"; otherwise "" */
};

struct iss_program {
    uint32_t entry;
    const struct iss_symbol *symbol; /* sorted by address; at equal addresses in the file's order */
    uint32_t n_symbol;               /* 0: it was stripped */
};

/* Copy the segments of `file`, n_bytes long, into the hart's mapped memory, zero uninitialised
 * parts, allow fetches from the executable ones, set pc to the entry. Names point into the arena.
 * ST_USAGE, with `path`: not such a file, damaged, or a segment outside the mapped memory. */
enum status iss_load(struct iss *c, struct arena *a, const char *path, const uint8_t *file,
                     size_t n_bytes, struct iss_program *program, struct diag *d);

/* Return the index of the symbol at or before an address, or n_symbol. */
uint32_t iss_symbol_at(const struct iss_program *p, uint32_t address);

/* Return the symbol of that name, or NULL. */
const struct iss_symbol *iss_symbol_named(const struct iss_program *p, const char *name);

/* Return "hd_wait + 0x24", or the address if no symbol precedes it. */
const char *iss_place(struct arena *a, const struct iss_program *p, uint32_t address);

#endif
