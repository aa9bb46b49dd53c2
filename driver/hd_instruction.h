/* hd_instruction.h - custom instructions of a target's unit (custom-0), as functions. On RISC-V they
 * are the instructions; elsewhere, where heddle runs the target's C next to the unit's Verilog, they
 * reach the unit by three registers. A `dev` of NULL has no unit: call none. C11,
 * freestanding. */
#ifndef HD_INSTRUCTION_H
#define HD_INSTRUCTION_H

#include "hd_port.h"

/* Registers of a unit, except on RISC-V. */
#define HD_UNIT_RS1         0u
#define HD_UNIT_RS2         4u
#define HD_UNIT_INSTRUCTION 8u /* a write executes it, a read returns the result */

/* HD_INSTRUCTION(name, funct3, funct7) defines name(dev, rs1, rs2): the instruction's result. A CFU
 * has 8 * funct7 + funct3 as its function. */
#if defined(__riscv)
#define HD_INSTRUCTION(name, funct3, funct7)                                                       \
    static inline uint32_t name(const struct hd_port *dev, uint32_t rs1, uint32_t rs2)             \
    {                                                                                              \
        uint32_t rd;                                                                               \
        (void)dev;                                                                                 \
        __asm__ volatile(".insn r 0x0b, " #funct3 ", " #funct7 ", %0, %1, %2"                      \
                         : "=r"(rd)                                                                \
                         : "r"(rs1), "r"(rs2));                                                    \
        return rd;                                                                                 \
    }
#else
#define HD_INSTRUCTION(name, funct3, funct7)                                                       \
    static inline uint32_t name(const struct hd_port *dev, uint32_t rs1, uint32_t rs2)             \
    {                                                                                              \
        dev->write32(dev->ctx, HD_UNIT_RS1, rs1);                                                  \
        dev->write32(dev->ctx, HD_UNIT_RS2, rs2);                                                  \
        dev->write32(dev->ctx, HD_UNIT_INSTRUCTION,                                                \
                     (uint32_t)(funct7) << 25 | (uint32_t)(funct3) << 12 | 0x0bu);                 \
        return dev->read32(dev->ctx, HD_UNIT_INSTRUCTION);                                         \
    }
#endif

#endif
