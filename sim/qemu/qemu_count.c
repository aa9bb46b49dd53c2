/* qemu_count.c - a plugin of qemu (7 and 8) that counts the network's instructions. in: out=PATH,
 * where to write; the symbols of the program that runs. out: one line at the end: calls of run(),
 * the network's function in model.c; instructions in them, callees counted; all instructions.
 * Method: qemu translates blocks of instructions without a branch in them and calls `executed` for
 * each. run() begins when its first block does, and ends with a block of the function from which it
 * came. The interface is declared here as qemu documents it: Debian has no header of it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_registers { NO_REGISTERS };
typedef uint64_t qemu_plugin_id_t;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t id,
                                                        struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                          void (*call)(unsigned cpu, void *data),
                                          enum qemu_plugin_registers registers, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*call)(qemu_plugin_id_t id, void *data), void *data);

EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

int qemu_plugin_version = 1;

struct block {
    const char *symbol; /* function that contains it; NULL: none */
    size_t n;           /* instructions */
};

static struct {
    const char *symbol, *caller; /* of the last block; of the block before run() */
    bool inside;
    uint64_t calls, network, all;
    char path[];
} * count;

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void executed(unsigned cpu, void *data)
{
    const struct block *const b = data;

    (void)cpu;
    if (count->inside && same(b->symbol, count->caller)) {
        count->inside = false;
    } else if (!count->inside && same(b->symbol, "run")) {
        count->inside = true;
        count->caller = count->symbol;
        count->calls++;
    }
    count->network += count->inside ? b->n : 0;
    count->all += b->n;
    count->symbol = b->symbol;
}

/* Blocks are kept: qemu may execute translated blocks until it ends. */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *const b = malloc(sizeof *b);

    (void)id;
    if (!b)
        abort();
    *b = (struct block){qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(tb, 0)),
                        qemu_plugin_tb_n_insns(tb)};
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGISTERS, b);
}

static void ended(qemu_plugin_id_t id, void *data)
{
    FILE *const f = fopen(count->path, "w");

    (void)id;
    (void)data;
    if (f) {
        (void)fprintf(f, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", count->calls, count->network,
                      count->all);
        (void)fclose(f);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0)
        return 1;
    count = calloc(1, sizeof *count + strlen(argv[0]));
    if (!count)
        return 1;
    strcpy(count->path, argv[0] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
