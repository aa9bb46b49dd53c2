/* random_programs.c - random RV32IM programs, and their run on heddle's simulator.
 *     random_programs make SEED COUNT FILE     an ELF file of COUNT programs, one after another
 *     random_programs run FILE OUT             executes it; OUT: what it wrote
 * Each program has a slot of memory: DATA_BYTES of data, then its registers x0 to x31 as they were in its end.
 * Then the file writes all slots with Linux's system call and exits: qemu-riscv32 runs it as it is. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/random.h"
#include "sim/iss/iss_elf.h"

#define TEXT       0x10000u
#define DATA       0x4000000u
#define DATA_BYTES 256u
#define SLOT_BYTES (DATA_BYTES + 4u * 32u)
#define PLACES     100u /* of a program: an instruction or a sequence that none jumps into */
#define MAX_WORDS  600u /* of a program */

enum { BASE = 3, COUNTER = 4, TEMPORARY = 5 }; /* registers with a purpose */
enum { SYS_WRITE = 64, SYS_EXIT = 93 };

struct programs {
    uint64_t random;
    uint32_t *word, n; /* code */
};

static uint32_t below(struct programs *p, uint32_t n)
{
    return (uint32_t)(random_next(&p->random) >> 33) % n;
}

static void add(struct programs *p, uint32_t word)
{
    p->word[p->n++] = word;
}

/* --- encodings: volume I, chapter 2 --- */

static uint32_t r_type(uint32_t funct7, uint32_t rs2, uint32_t rs1, uint32_t funct3, uint32_t rd,
                       uint32_t opcode)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t i_type(uint32_t imm, uint32_t rs1, uint32_t funct3, uint32_t rd, uint32_t opcode)
{
    return imm << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}

static uint32_t store(uint32_t imm, uint32_t rs2, uint32_t rs1, uint32_t funct3)
{
    return r_type(imm >> 5 & 127, rs2, rs1, funct3, imm & 31, 0x23);
}

static uint32_t branch(uint32_t offset, uint32_t rs2, uint32_t rs1, uint32_t funct3)
{
    return r_type((offset >> 12 & 1) << 6 | (offset >> 5 & 63), rs2, rs1, funct3,
                  (offset >> 1 & 15) << 1 | (offset >> 11 & 1), 0x63);
}

static uint32_t jal(uint32_t offset, uint32_t rd)
{
    return (offset >> 20 & 1) << 31 | (offset >> 1 & 1023) << 21 | (offset >> 11 & 1) << 20 |
           (offset >> 12 & 255) << 12 | rd << 7 | 0x6f;
}

static void load_constant(struct programs *p, uint32_t rd, uint32_t value)
{
    add(p, (((value + 0x800u) & ~0xfffu) | rd << 7) | 0x37);
    add(p, i_type(value & 0xfff, rd, 0, rd, 0x13));
}

/* --- one program --- */

/* A register that a program may write: all but BASE and COUNTER. */
static uint32_t target(struct programs *p)
{
    uint32_t rd = below(p, 32);

    while (rd == BASE || rd == COUNTER)
        rd = below(p, 32);
    return rd;
}

static uint32_t value(struct programs *p)
{
    static const uint32_t edges[] = {0,           1,           2,          ~0u,     ~1u,
                                     0x80000000u, 0x7fffffffu, 0x8000007f, 0xff80u, 0x7fffu};

    switch (below(p, 3)) {
    case 0: return edges[below(p, sizeof edges / sizeof *edges)];
    case 1: return below(p, 256) - 128;
    default: return (uint32_t)random_next(&p->random);
    }
}

static uint32_t computation(struct programs *p)
{
    const uint32_t rd = target(p), rs1 = below(p, 32), rs2 = below(p, 32), funct3 = below(p, 8);

    switch (below(p, 8)) {
    case 0: return (value(p) & ~0xfffu) | rd << 7 | (below(p, 2) ? 0x37 : 0x17);
    case 1:
    case 2:
        if (funct3 == 1 || funct3 == 5)
            return r_type(funct3 == 5 ? below(p, 2) << 5 : 0, rs2, rs1, funct3, rd, 0x13);
        return i_type(value(p) & 0xfff, rs1, funct3, rd, 0x13);
    case 3:
    case 4:
    case 5: return r_type(1, rs2, rs1, funct3, rd, 0x33);
    default:
        return r_type(funct3 == 0 || funct3 == 5 ? below(p, 2) << 5 : 0, rs2, rs1, funct3, rd,
                      0x33);
    }
}

/* A load or a store in the program's data: relative to BASE, or computed. */
static void memory_access(struct programs *p, uint32_t rs1)
{
    static const uint32_t loads[] = {0, 1, 2, 4, 5};
    const uint32_t is_store = below(p, 2), funct3 = is_store ? below(p, 3) : loads[below(p, 5)],
                   size = 1u << (funct3 & 3), computed = below(p, 3) == 0;
    const uint32_t offset = computed ? 0 : below(p, DATA_BYTES / size) * size;
    const uint32_t base = computed ? TEMPORARY : BASE;

    if (computed) {
        add(p, i_type((DATA_BYTES - 1) & ~(size - 1), rs1, 7, TEMPORARY, 0x13));
        add(p, r_type(0, BASE, TEMPORARY, 0, TEMPORARY, 0x33));
    }
    add(p, is_store ? store(offset, below(p, 32), base, funct3)
                    : i_type(offset, base, funct3, target(p), 0x03));
}

/* A forward jump, to be filled in once its place is known; the last may go to any place after
 * it. */
struct jump {
    uint32_t word, from, rd, rs1, rs2, funct3, kind;
};

enum { BRANCH, JUMP, JUMP_REGISTER };

static struct jump make_jump(struct programs *p, uint32_t place)
{
    static const uint32_t branches[] = {0, 1, 4, 5, 6, 7};
    const struct jump j = {
        p->n, place, target(p), below(p, 32), below(p, 32), branches[below(p, 6)], below(p, 8)};

    add(p, 0);
    if (j.kind == JUMP_REGISTER)
        add(p, 0);
    return j;
}

static void fill_jump(struct programs *p, const struct jump *j, const uint32_t *place)
{
    uint32_t span = PLACES - j->from < 12 ? PLACES - j->from : 12;
    const uint32_t to = place[j->from + 1 + below(p, span)], offset = 4 * (to - j->word);

    if (j->kind == JUMP_REGISTER) { /* bit 0 of the sum is ignored */
        p->word[j->word] = TEMPORARY << 7 | 0x17;
        p->word[j->word + 1] = i_type(offset | below(p, 2), TEMPORARY, 0, j->rd, 0x67);
    } else {
        p->word[j->word] =
            j->kind == JUMP ? jal(offset, j->rd) : branch(offset, j->rs2, j->rs1, j->funct3);
    }
}

/* Jump back, while COUNTER is positive, to a place after COUNTER was last set, so that the loop ends. */
static void make_loop(struct programs *p, const uint32_t *place, uint32_t set, uint32_t here)
{
    const uint32_t to = place[set + 1 + below(p, here - set)];

    add(p, i_type(0xfff, COUNTER, 0, COUNTER, 0x13));
    add(p, branch(4 * (to - p->n), COUNTER, 0, 4));
}

static void make_body(struct programs *p)
{
    uint32_t place[PLACES + 1], n_jump = 0, set = PLACES;
    struct jump jump[PLACES];

    for (uint32_t i = 0; i < PLACES; i++) {
        const uint32_t kind = below(p, 20);

        place[i] = p->n;
        if (kind < 10) {
            add(p, computation(p));
        } else if (kind < 15) {
            memory_access(p, below(p, 32));
        } else if (kind < 18) {
            jump[n_jump++] = make_jump(p, i);
        } else if (kind == 18 || set == PLACES) {
            set = i;
            add(p, i_type(below(p, 6), 0, 0, COUNTER, 0x13));
        } else {
            make_loop(p, place, set, i);
        }
    }
    place[PLACES] = p->n;
    for (uint32_t i = 0; i < n_jump; i++)
        fill_jump(p, &jump[i], place);
}

static void make_program(struct programs *p, uint32_t index)
{
    for (uint32_t r = 1; r < 32; r++)
        load_constant(p, r, r == BASE ? DATA + index * SLOT_BYTES : r == COUNTER ? 0 : value(p));
    make_body(p);
    for (uint32_t r = 0; r < 32; r++)
        add(p, store(DATA_BYTES + 4 * r, r, BASE, 2));
}

static void make_end(struct programs *p, uint32_t n_bytes)
{
    load_constant(p, 10, 1);
    load_constant(p, 11, DATA);
    load_constant(p, 12, n_bytes);
    load_constant(p, 17, SYS_WRITE);
    add(p, 0x73);
    load_constant(p, 10, 0);
    load_constant(p, 17, SYS_EXIT);
    add(p, 0x73);
}

/* --- the file --- */

struct image {
    Elf32_Ehdr header;
    Elf32_Phdr segment[2];
};

static const struct image empty = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_EXEC,
               .e_machine = EM_RISCV,
               .e_version = EV_CURRENT,
               .e_entry = TEXT,
               .e_phoff = sizeof(Elf32_Ehdr),
               .e_ehsize = sizeof(Elf32_Ehdr),
               .e_phentsize = sizeof(Elf32_Phdr),
               .e_phnum = 2},
};

static int make(uint64_t seed, uint32_t count, const char *path)
{
    struct programs p = {.random = seed};
    struct image image = empty;
    uint32_t n_data = count * SLOT_BYTES;
    uint8_t *const data = calloc(1, n_data);
    FILE *f = fopen(path, "wb");
    int written;

    p.word = calloc((size_t)count * MAX_WORDS, 4);
    if (!f || !data || !p.word)
        return 2;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < DATA_BYTES; k++)
            data[i * SLOT_BYTES + k] = (uint8_t)random_next(&p.random);
        make_program(&p, i);
    }
    make_end(&p, n_data);
    image.segment[0] = (Elf32_Phdr){PT_LOAD, 4096, TEXT, TEXT, 4 * p.n, 4 * p.n, PF_R | PF_X, 4096};
    image.segment[1] = (Elf32_Phdr){
        PT_LOAD, (4096 + 4 * p.n + 4095) & ~4095u, DATA, DATA, n_data, n_data, PF_R | PF_W, 4096};
    written = fwrite(&image, sizeof image, 1, f) == 1 && fseek(f, 4096, SEEK_SET) == 0 &&
              fwrite(p.word, 4, p.n, f) == p.n &&
              fseek(f, (long)image.segment[1].p_offset, SEEK_SET) == 0 &&
              fwrite(data, 1, n_data, f) == n_data;
    free(p.word);
    free(data);
    return fclose(f) == 0 && written ? 0 : 2;
}

static int fail(const char *text)
{
    fprintf(stderr, "%s\n", text);
    return 2;
}

static int execute(struct arena *a, struct iss *c, FILE *out)
{
    enum iss_stop stop;

    c->stop_at_calls = true;
    while ((stop = iss_run(c, 2000000000u)) == ISS_ECALL) {
        const uint8_t *bytes = iss_bytes(c, c->x[11], c->x[12]);

        if (c->x[17] == SYS_EXIT) {
            printf("%llu instructions, %llu cycles\n", (unsigned long long)c->instructions,
                   (unsigned long long)c->cycles);
            return 0;
        }
        if (c->x[17] != SYS_WRITE || !bytes || fwrite(bytes, 1, c->x[12], out) != c->x[12])
            return fail("unknown system call, or its bytes cannot be written");
        c->pc += 4;
    }
    return fail(arena_printf(a, "stopped (%d) at 0x%08x: %s, value 0x%08x", (int)stop, c->pc,
                             iss_cause_text(c->mcause), c->mtval));
}

static int run(const char *path, const char *out_path)
{
    struct arena *const a = arena_new(0);
    struct iss *const c = iss_new(a, &iss_five_stages);
    const uint32_t n_text = DATA - TEXT, n_data = 16u << 20;
    struct iss_program program;
    struct diag d = {.status = ST_OK};
    uint8_t *bytes;
    size_t n_bytes;
    FILE *out;
    int rc = 2;

    iss_memory(c, TEXT, n_text, arena_alloc(a, n_text), 0);
    iss_memory(c, DATA, n_data, arena_alloc(a, n_data), 0);
    if (file_read(a, path, (size_t)1 << 28, &bytes, &n_bytes, &d) != ST_OK ||
        iss_load(c, a, path, bytes, n_bytes, &program, &d) != ST_OK)
        return fail(d.text);
    out = fopen(out_path, "wb");
    if (out)
        rc = execute(a, c, out);
    if (!out || fclose(out) != 0)
        rc = fail("the output cannot be written");
    arena_free(a);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        return make(strtoull(argv[2], NULL, 0), (uint32_t)strtoul(argv[3], NULL, 0), argv[4]);
    if (argc == 4 && strcmp(argv[1], "run") == 0)
        return run(argv[2], argv[3]);
    return fail("random_programs make SEED COUNT FILE | run FILE OUT");
}
