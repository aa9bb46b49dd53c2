/* accel.h - hw/accel.json in memory: the only source of every hardware fact. Used by hdgen, which
 * writes the C header, the tables, the SystemVerilog and the register page, and by heddle at run
 * time for configurations and their hash. All memory is the arena's. */
#ifndef HEDDLE_HW_GEN_ACCEL_H
#define HEDDLE_HW_GEN_ACCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "config.h"

/* A field of a register, header or command. Fields are packed upward from bit 0 in file order; one
 * that would straddle a 32-bit word starts the next word. name NULL: padding (accel_members). */
struct accel_field {
    const char *name, *doc;
    const char *enum_name;    /* NULL, or the enum of its values */
    uint32_t word, lsb, bits; /* word from the start of the command, stream or register */
    bool is_signed;
};

/* The stream header, the common part of a command, or a whole command. */
struct accel_record {
    const char *name, *doc;
    const struct accel_field
        *fields; /* a command's own fields; those of `common` are not repeated */
    uint32_t n_fields;
    uint32_t first_word, n_words;   /* first_word: of `fields`; n_words: of the whole record, padded
                                     * to 16 bytes */
    uint32_t opcodes[4], n_opcodes; /* values of enum opcode; commands only */
};

struct accel_enum {
    const char *name, *doc;
    const char *sv_prefix; /* NULL: the name in UpperCamelCase */
    const char *const *values;
    uint32_t n_values;
    uint32_t bits; /* width of the command field that carries it, otherwise the minimum for all
                    * values */
};

/* Facts on each value of an enum: a row of numbers, packed upward from bit 0 by column. */
struct accel_facts {
    const struct accel_enum *of;
    const char *doc;
    const struct accel_field *columns;
    uint32_t n_columns, bits; /* bits of a row, at most 32 */
    const uint32_t *value;    /* by value of the enum, then by column */
};

struct accel_constant {
    const char *name, *doc;
    uint32_t value;
};

struct accel_register {
    const char *name, *doc, *access;
    const char *reset;    /* fixed value: a constant's, or "config_hash"; NULL: 0 after reset */
    uint32_t word, count; /* word index; count > 0: an array (also of 1), 0: one register */
    const struct accel_field *fields;
    uint32_t n_fields;
};

struct accel_unit {
    const char *name, *doc;
    const char *const *counters;
    uint32_t n_counters;
};

/* A delay in cycles, or a depth, of the RTL, used by the scheduler's cycle model. */
struct accel_timing {
    const char *name, *doc;
    const char *module, *bench; /* module of hw/rtl, bench of tests/hw */
    uint32_t value;
    bool parameter; /* true: the RTL uses it as a parameter; false: its bench measures it */
};

struct accel {
    const char *name;
    uint32_t version;
    const struct accel_enum *enums;
    const struct accel_facts *facts;
    const struct accel_constant *constants;
    const struct accel_register *registers;
    const struct accel_unit *units;
    const struct accel_record *commands;
    const struct accel_timing *timing;
    const struct hd_config *configs; /* hash set */
    uint32_t n_enums, n_facts, n_constants, n_registers, n_units, n_commands, n_timing, n_configs;
    uint32_t register_words, counter_slots, opcode_enum;
    struct accel_record header, common;
    const char *hash_before, *hash_after; /* canonical JSON around the configuration */
    const char *model, *model_path;       /* text of model.csv beside accel.json; NULL: none */
};

/* Parse `text` (n bytes, not necessarily terminated). `where`: its name in messages, which have
 * line and column for JSON syntax errors and the member's path for others. model NULL: clocks that
 * are not stated are assumed; else they are those of this text of model.csv. */
enum status accel_parse(struct arena *a, const char *text, size_t n, const char *where,
                        const char *model, const struct accel **out, struct diag *d);
/* The same from a file, with the model.csv beside it. */
enum status accel_load(struct arena *a, const char *path, const struct accel **out, struct diag *d);

/* A size of a configuration. */
struct accel_size {
    const char *name;
    size_t offset; /* in struct hd_config */
    uint32_t low, high;
};

/* All sizes, sorted by name; the name after the last is NULL. */
extern const struct accel_size accel_sizes[];
/* By enum hd_clock_origin: "assumed", "given", "placed", "routed", "model". */
extern const char *const accel_clock_origins[];
uint32_t accel_size_of(const struct hd_config *c, const struct accel_size *s);
/* Return true for rows and columns, which are n unless stated. */
bool accel_is_side(const struct accel_size *s);

/* Find a configuration of accel.json; the message lists the existing names. */
enum status accel_config_by_name(const struct accel *acc, const char *name, struct hd_config *out,
                                 struct diag *d);
/* Read one configuration object (--hw=FILE), checked and hashed. */
enum status accel_config_from_json(struct arena *a, const struct accel *acc, const char *text,
                                   size_t n, const char *where, struct hd_config *out,
                                   struct diag *d);
/* Find the configuration of --hw: a name of accel.json, a file (contains '/' or '.'), or the
 * JSON itself. */
enum status accel_config_find(struct arena *a, const struct accel *acc, const char *name_or_path,
                              struct hd_config *out, struct diag *d);

/* Return the bits of a word of a record, first_word on, that no field uses; they must be 0 in a
 * stream. */
uint32_t accel_reserved(const struct accel_record *r, uint32_t word);
/* Return every member of a record's words from first_word on, with gaps filled by nameless members,
 * each within one word. */
const struct accel_field *accel_members(struct arena *a, const struct accel_record *r, uint32_t *n);
/* Return the index of an enum by name, or n_enums. */
uint32_t accel_enum_index(const struct accel *acc, const char *name);
/* Return the facts on value i of the enum, packed. */
uint32_t accel_fact_row(const struct accel_facts *f, uint32_t i);
/* Return a constant by name, or NULL. */
const struct accel_constant *accel_constant(const struct accel *acc, const char *name);

#endif
