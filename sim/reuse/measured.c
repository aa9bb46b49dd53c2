/* measured.c - see measured.h. A file: struct head, rows, commands, a digest of all that. */
#define _GNU_SOURCE
#include "measured.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/private.h"
#include "sim/build/evict.h"

struct head {
    char magic[8];
    uint32_t n_row, n_command;
    uint64_t cycles;
    uint32_t counter[HD_SIM_UNITS * HD_SIM_KINDS];
};

static const char magic[8] = "hdreuse";

enum { MOST_BYTES = 1 << 28, STORE_BYTES = 1 << 29 };

static const char *path_of(struct arena *a, const char *store, const struct hash128 *key)
{
    return arena_printf(a, "%s/%s", store, hash_text(a, key));
}

static struct hash128 digest_of(const uint8_t *bytes, size_t n)
{
    struct hash128 h;

    hash_init(&h);
    hash_large(&h, bytes, n);
    return h;
}

bool measured_read(struct arena *a, const char *store, const struct hash128 *key,
                   struct reuse_record *r)
{
    const char *const path = path_of(a, store, key);
    struct diag ignored = {0};
    struct head head;
    uint8_t *bytes;
    size_t n;

    if (!private_file(path) || file_read(a, path, MOST_BYTES, &bytes, &n, &ignored) != ST_OK ||
        n < sizeof head + sizeof(struct hash128))
        return false;
    n -= sizeof(struct hash128);
    const struct hash128 digest = digest_of(bytes, n);
    memcpy(&head, bytes, sizeof head);
    const size_t rows = head.n_row * sizeof *r->row, commands = head.n_command * sizeof *r->command;
    if (memcmp(&digest, bytes + n, sizeof digest) != 0 ||
        memcmp(head.magic, magic, sizeof magic) != 0 || n != sizeof head + rows + commands)
        return false;
    *r = (struct reuse_record){
        .cycles = head.cycles, .n_row = head.n_row, .n_command = head.n_command};
    memcpy(r->counter, head.counter, sizeof r->counter);
    r->row = arena_alloc(a, rows + 1);
    r->command = arena_alloc(a, commands + 1);
    memcpy(r->row, bytes + sizeof head, rows);
    memcpy(r->command, bytes + sizeof head + rows, commands);
    evict_touch(path);
    return true;
}

void measured_evict(struct arena *a, const char *store)
{
    evict_files(a, store, STORE_BYTES);
}

void measured_write(struct arena *a, const char *store, const struct hash128 *key,
                    const struct reuse_record *r)
{
    const size_t rows = r->n_row * sizeof *r->row, commands = r->n_command * sizeof *r->command;
    struct head head = {.n_row = r->n_row, .n_command = r->n_command, .cycles = r->cycles};
    const size_t n = sizeof head + rows + commands;
    uint8_t *const bytes = arena_alloc(a, n + sizeof(struct hash128));
    struct diag ignored = {0};

    memcpy(head.magic, magic, sizeof magic);
    memcpy(head.counter, r->counter, sizeof head.counter);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, r->row, rows);
    memcpy(bytes + sizeof head + rows, r->command, commands);
    const struct hash128 digest = digest_of(bytes, n);
    memcpy(bytes + n, &digest, sizeof digest);
    if (file_make_dirs(store, &ignored) == ST_OK)
        (void)private_write(path_of(a, store, key), bytes, n + sizeof digest, &ignored);
}

static const char *lock_of(struct arena *a, const char *store, const struct hash128 *key)
{
    return arena_printf(a, "%s.lock", path_of(a, store, key));
}

int measured_claim(struct arena *a, const char *store, const struct hash128 *key)
{
    struct diag ignored = {0};
    int fd;

    if (file_make_dirs(store, &ignored) != ST_OK)
        return -1;
    fd = open(lock_of(a, store, key), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

void measured_release(struct arena *a, const char *store, const struct hash128 *key, int claim)
{
    if (claim < 0)
        return;
    (void)unlink(lock_of(a, store, key));
    (void)close(claim);
}
