/* iss_elf.c - see iss_elf.h. Layout: System V ABI, chapters 4 and 5; RISC-V ELF psABI. */
#include "iss_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct file {
    const char *path;
    const uint8_t *bytes;
    size_t n_bytes;
};

/* Copy `size` bytes of the file; ST_USAGE if it ends earlier. */
static enum status take(const struct file *f, uint64_t at, void *to, size_t size, struct diag *d)
{
    if (at > f->n_bytes || size > f->n_bytes - at)
        return FAIL(d, ST_USAGE, "%s: ends at byte %zu, expected %zu bytes at %llu", f->path,
                    f->n_bytes, size, (unsigned long long)at);
    memcpy(to, f->bytes + at, size);
    return ST_OK;
}

static enum status read_header(const struct file *f, Elf32_Ehdr *h, struct diag *d)
{
    if (f->n_bytes < sizeof *h || memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
        return FAIL(d, ST_USAGE, "%s: not an ELF file", f->path);
    TRY(take(f, 0, h, sizeof *h, d));
    if (h->e_ident[EI_CLASS] != ELFCLASS32 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        h->e_machine != EM_RISCV || h->e_type != ET_EXEC)
        return FAIL(d, ST_USAGE,
                    "%s: expected a linked program of 32-bit RISC-V (class 1, machine %d, type 2), "
                    "found class %d, machine %d, type %d",
                    f->path, EM_RISCV, h->e_ident[EI_CLASS], h->e_machine, h->e_type);
    if (h->e_flags & EF_RISCV_RVC)
        return FAIL(d, ST_USAGE, "%s: compressed instructions; expected -march=rv32im", f->path);
    return ST_OK;
}

static enum status load_segment(struct iss *c, const struct file *f, const Elf32_Phdr *p,
                                struct diag *d)
{
    uint8_t *const to = iss_bytes(c, p->p_paddr, p->p_memsz);

    if (p->p_filesz > p->p_memsz)
        return FAIL(d, ST_USAGE, "%s: a segment of %u bytes has %u in the file", f->path,
                    p->p_memsz, p->p_filesz);
    if (to == NULL)
        return FAIL(d, ST_USAGE, "%s: a segment of %u bytes at 0x%08x: there is no memory", f->path,
                    p->p_memsz, p->p_paddr);
    TRY(take(f, p->p_offset, to, p->p_filesz, d));
    memset(to + p->p_filesz, 0, p->p_memsz - p->p_filesz);
    return ST_OK;
}

/* Load the segments; all executable ones form one range. */
static enum status load_segments(struct iss *c, struct arena *a, const struct file *f,
                                 const Elf32_Ehdr *h, struct diag *d)
{
    uint32_t low = ~0u, high = 0;

    for (uint32_t i = 0; i < h->e_phnum; i++) {
        Elf32_Phdr p;

        TRY(take(f, (uint64_t)h->e_phoff + (uint64_t)i * sizeof p, &p, sizeof p, d));
        if (p.p_type != PT_LOAD || p.p_memsz == 0)
            continue;
        TRY(load_segment(c, f, &p, d));
        if (p.p_flags & PF_X) {
            low = p.p_paddr < low ? p.p_paddr : low;
            high = p.p_paddr + p.p_memsz > high ? p.p_paddr + p.p_memsz : high;
        }
    }
    if (low > high)
        return FAIL(d, ST_USAGE, "%s: no executable segment", f->path);
    low &= ~3u;
    if (iss_bytes(c, low, high - low) == NULL)
        return FAIL(d, ST_USAGE, "%s: executable segments in two memories", f->path);
    iss_code(c, a, low, (high - low + 3u) & ~3u);
    return ST_OK;
}

/* Return true for functions and untyped labels of code, but not for compiler-generated ones (".L4",
 * "$x"). */
static bool is_place(const Elf32_Sym *s, const char *name)
{
    const uint32_t type = ELF32_ST_TYPE(s->st_info);

    return (type == STT_FUNC || type == STT_NOTYPE) && s->st_shndx != SHN_UNDEF &&
           s->st_shndx < SHN_LORESERVE && *name != '\0' && *name != '.' && *name != '$';
}

static int by_address(const void *a, const void *b)
{
    const struct iss_symbol *const x = a, *const y = b;

    return x->address != y->address ? (x->address > y->address) - (x->address < y->address)
                                    : (x->name > y->name) - (x->name < y->name);
}

static enum status read_symbols(struct arena *a, const struct file *f, const Elf32_Shdr *table,
                                const Elf32_Shdr *strings, struct iss_program *program,
                                struct diag *d)
{
    const uint32_t n = table->sh_size / (uint32_t)sizeof(Elf32_Sym);
    struct iss_symbol *symbol;
    const char *file = "";
    char *text;

    if (table->sh_size > f->n_bytes || strings->sh_size > f->n_bytes)
        return FAIL(d, ST_USAGE, "%s: its symbol table is longer than the file", f->path);
    symbol = ARENA_ARRAY(a, struct iss_symbol, n);
    text = arena_alloc(a, (size_t)strings->sh_size + 1);
    TRY(take(f, strings->sh_offset, text, strings->sh_size, d));
    for (uint32_t i = 0; i < n; i++) {
        Elf32_Sym s;

        TRY(take(f, (uint64_t)table->sh_offset + (uint64_t)i * sizeof s, &s, sizeof s, d));
        if (s.st_name >= strings->sh_size)
            continue;
        if (ELF32_ST_TYPE(s.st_info) == STT_FILE)
            file = text + s.st_name;
        else if (is_place(&s, text + s.st_name))
            symbol[program->n_symbol++] = (struct iss_symbol){
                s.st_value, text + s.st_name, ELF32_ST_BIND(s.st_info) == STB_LOCAL ? file : ""};
    }
    qsort(symbol, program->n_symbol, sizeof *symbol, by_address);
    program->symbol = symbol;
    return ST_OK;
}

static enum status find_symbols(struct arena *a, const struct file *f, const Elf32_Ehdr *h,
                                struct iss_program *program, struct diag *d)
{
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        Elf32_Shdr table, strings;

        TRY(take(f, (uint64_t)h->e_shoff + (uint64_t)i * sizeof table, &table, sizeof table, d));
        if (table.sh_type != SHT_SYMTAB)
            continue;
        TRY(take(f, (uint64_t)h->e_shoff + (uint64_t)table.sh_link * sizeof strings, &strings,
                 sizeof strings, d));
        return read_symbols(a, f, &table, &strings, program, d);
    }
    return ST_OK;
}

enum status iss_load(struct iss *c, struct arena *a, const char *path, const uint8_t *bytes,
                     size_t n_bytes, struct iss_program *program, struct diag *d)
{
    const struct file f = {path, bytes, n_bytes};
    Elf32_Ehdr h;

    *program = (struct iss_program){0};
    TRY(read_header(&f, &h, d));
    TRY(load_segments(c, a, &f, &h, d));
    TRY(find_symbols(a, &f, &h, program, d));
    program->entry = c->pc = h.e_entry;
    return ST_OK;
}

uint32_t iss_symbol_at(const struct iss_program *p, uint32_t address)
{
    uint32_t low = 0, high = p->n_symbol;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (p->symbol[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return p->n_symbol;
    for (low--; low > 0 && p->symbol[low - 1].address == p->symbol[low].address;)
        low--;
    return low;
}

const struct iss_symbol *iss_symbol_named(const struct iss_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_symbol; i++)
        if (strcmp(p->symbol[i].name, name) == 0)
            return &p->symbol[i];
    return NULL;
}

const char *iss_place(struct arena *a, const struct iss_program *p, uint32_t address)
{
    const uint32_t i = iss_symbol_at(p, address);

    if (i == p->n_symbol)
        return arena_printf(a, "0x%08x", address);
    return arena_printf(a, "%s + 0x%x", p->symbol[i].name, address - p->symbol[i].address);
}
