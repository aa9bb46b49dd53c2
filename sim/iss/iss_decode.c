/* iss_decode.c - see iss_decode.h. Formats: volume I, chapter 24 (instruction listings). */
#include "iss_decode.h"

#define BAD ISS_BAD

static int32_t sign_extend(uint32_t value, uint32_t bits)
{
    return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static uint32_t field(uint32_t word, uint32_t low, uint32_t bits)
{
    return word >> low & ((1u << bits) - 1);
}

static int32_t branch_offset(uint32_t w)
{
    return sign_extend(field(w, 31, 1) << 12 | field(w, 7, 1) << 11 | field(w, 25, 6) << 5 |
                           field(w, 8, 4) << 1,
                       13);
}

static int32_t jump_offset(uint32_t w)
{
    return sign_extend(field(w, 31, 1) << 20 | field(w, 12, 8) << 12 | field(w, 20, 1) << 11 |
                           field(w, 21, 10) << 1,
                       21);
}

static uint8_t immediate_kind(uint32_t w)
{
    const uint32_t funct7 = field(w, 25, 7);

    switch (field(w, 12, 3)) {
    case 1: return funct7 == 0 ? ISS_SLLI : BAD;
    case 5: return funct7 == 0 ? ISS_SRLI : funct7 == 0x20 ? ISS_SRAI : BAD;
    default: return (uint8_t)(ISS_ADDI + field(w, 12, 3));
    }
}

static uint8_t register_kind(uint32_t w)
{
    const uint32_t funct3 = field(w, 12, 3);

    switch (field(w, 25, 7)) {
    case 0: return (uint8_t)(ISS_ADD + funct3);
    case 1: return (uint8_t)(ISS_MUL + funct3);
    case 0x20: return funct3 == 0 ? ISS_SUB : funct3 == 5 ? ISS_SRA : BAD;
    default: return BAD;
    }
}

static uint8_t system_kind(uint32_t w)
{
    switch (w) {
    case 0x00000073: return ISS_ECALL_OP;
    case 0x00100073: return ISS_EBREAK_OP;
    case 0x30200073: return ISS_MRET;
    case 0x10500073: return ISS_WFI;
    default: return field(w, 12, 2) ? ISS_CSR : BAD;
    }
}

struct iss_op iss_decode(uint32_t w)
{
    static const uint8_t branches[8] = {ISS_BEQ, ISS_BNE, BAD,      BAD,
                                        ISS_BLT, ISS_BGE, ISS_BLTU, ISS_BGEU};
    static const uint8_t loads[8] = {ISS_LB, ISS_LH, ISS_LW, BAD, ISS_LBU, ISS_LHU, BAD, BAD};
    static const uint8_t stores[8] = {ISS_SB, ISS_SH, ISS_SW, BAD, BAD, BAD, BAD, BAD};
    const uint8_t rd = (uint8_t)field(w, 7, 5), rs1 = (uint8_t)field(w, 15, 5),
                  rs2 = (uint8_t)field(w, 20, 5);
    const uint32_t funct3 = field(w, 12, 3);
    const int32_t immediate = sign_extend(field(w, 20, 12), 12);
    struct iss_op op = {BAD, 0, 0, 0, (int32_t)w};

    switch (field(w, 0, 7)) {
    case 0x37: op = (struct iss_op){ISS_LUI, rd, 0, 0, (int32_t)(w & ~0xfffu)}; break;
    case 0x17: op = (struct iss_op){ISS_AUIPC, rd, 0, 0, (int32_t)(w & ~0xfffu)}; break;
    case 0x6f: op = (struct iss_op){ISS_JAL, rd, 0, 0, jump_offset(w)}; break;
    case 0x67: op = (struct iss_op){funct3 == 0 ? ISS_JALR : BAD, rd, rs1, 0, immediate}; break;
    case 0x63: op = (struct iss_op){branches[funct3], 0, rs1, rs2, branch_offset(w)}; break;
    case 0x03: op = (struct iss_op){loads[funct3], rd, rs1, 0, immediate}; break;
    case 0x23:
        op = (struct iss_op){stores[funct3], 0, rs1, rs2,
                             sign_extend(field(w, 25, 7) << 5 | rd, 12)};
        break;
    case 0x13:
        op = (struct iss_op){immediate_kind(w), rd, rs1, 0,
                             funct3 == 1 || funct3 == 5 ? rs2 : immediate};
        break;
    case 0x33: op = (struct iss_op){register_kind(w), rd, rs1, rs2, 0}; break;
    case 0x0b:
    case 0x2b: op = (struct iss_op){ISS_CUSTOM, rd, rs1, rs2, (int32_t)w}; break;
    case 0x0f: op.kind = funct3 <= 1 ? ISS_FENCE : BAD; break;
    case 0x73:
        op.kind = system_kind(w);
        if (op.kind == ISS_CSR) {
            op.rd = rd;
            op.rs1 = funct3 & 4 ? 0 : rs1;
        }
        break;
    default: break;
    }
    if (op.kind == BAD)
        op = (struct iss_op){BAD, 0, 0, 0, (int32_t)w};
    return op;
}
