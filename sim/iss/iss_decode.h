/* iss_decode.h - decode an instruction. */
#ifndef HEDDLE_SIM_ISS_DECODE_H
#define HEDDLE_SIM_ISS_DECODE_H

#include <stdint.h>

enum iss_kind {
    ISS_UNKNOWN = 0, /* not decoded yet */
    ISS_BAD,         /* illegal instruction */
    /* clang-format off: in the order of funct3 where there is one */
    ISS_LUI,
    ISS_AUIPC,
    ISS_JAL,
    ISS_JALR,
    ISS_BEQ,
    ISS_BNE,
    ISS_BLT,
    ISS_BGE,
    ISS_BLTU,
    ISS_BGEU,
    ISS_LB,
    ISS_LH,
    ISS_LW,
    ISS_LBU,
    ISS_LHU,
    ISS_SB,
    ISS_SH,
    ISS_SW,
    ISS_ADDI,
    ISS_SLLI,
    ISS_SLTI,
    ISS_SLTIU,
    ISS_XORI,
    ISS_SRLI,
    ISS_ORI,
    ISS_ANDI,
    ISS_SRAI,
    ISS_ADD,
    ISS_SLL,
    ISS_SLT,
    ISS_SLTU,
    ISS_XOR,
    ISS_SRL,
    ISS_OR,
    ISS_AND,
    ISS_SUB,
    ISS_SRA,
    ISS_MUL,
    ISS_MULH,
    ISS_MULHSU,
    ISS_MULHU,
    ISS_DIV,
    ISS_DIVU,
    ISS_REM,
    ISS_REMU,
    /* clang-format on */
    ISS_FENCE,
    ISS_ECALL_OP,
    ISS_EBREAK_OP,
    ISS_MRET,
    ISS_WFI,
    ISS_CSR,
    ISS_CUSTOM, /* custom-0, custom-1 */
};

/* Registers that an instruction lacks are 0. imm: the immediate, sign extended; for LUI and AUIPC
 * shifted; for shifts the amount; for ISS_CSR, ISS_CUSTOM and ISS_BAD the instruction itself. */
struct iss_op {
    uint8_t kind, rd, rs1, rs2;
    int32_t imm;
};

/* Decode one 32-bit instruction of RV32IM with Zicsr, or a custom one; anything else is ISS_BAD. */
struct iss_op iss_decode(uint32_t word);

#endif
