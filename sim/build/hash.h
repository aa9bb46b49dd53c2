/* hash.h - FNV-1a with 128 bits (Fowler, Noll, Vo): names files by their content. No protection
 * against an adversary, who could also edit the cache. */
#ifndef HEDDLE_SIM_HASH_H
#define HEDDLE_SIM_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct hash128 {
    uint64_t low, high;
};

void hash_init(struct hash128 *h);
void hash_bytes(struct hash128 *h, const void *data, size_t n_bytes);
/* Hash many bytes, faster: in four lanes of 64 bits; the value differs from that of hash_bytes. */
void hash_large(struct hash128 *h, const void *data, size_t n_bytes);
/* Hash the bytes of a file as hash_large does. ST_USAGE: it cannot be read. */
enum status hash_file(struct arena *a, struct hash128 *h, const char *path, struct diag *d);
/* Hash the string and its terminator, so that "ab" "c" differs from "a" "bc". */
void hash_string(struct hash128 *h, const char *s);
/* 32 hex digits. */
const char *hash_text(struct arena *a, const struct hash128 *h);

#endif
