/* config.c - configurations: reading, checking, hashing. */
#include "config_read.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { MAX_CONFIG_FILE_BYTES = 1 << 20 };

struct size_member {
    const char *key;
    size_t offset; /* in struct hd_config */
    uint32_t low, high;
};

/* Sorted by key: canonical JSON is printed from this table. The upper bounds come from the widths
 * of the command fields that carry the numbers, the others from what the RTL can build. */
static const struct size_member sizes[] = {
    {"acc_depth", offsetof(struct hd_config, acc_depth), 16, 4096},
    {"axi_addr_bits", offsetof(struct hd_config, axi_addr_bits), 16, 64},
    {"axi_bytes", offsetof(struct hd_config, axi_bytes), 4, 64},
    {"banks", offsetof(struct hd_config, banks), 8, 8},
    {"n", offsetof(struct hd_config, n), 4, 32},
    {"param_entries", offsetof(struct hd_config, param_entries), 1, 4096},
    {"ports", offsetof(struct hd_config, ports), 1, 4},
    {"read_bursts", offsetof(struct hd_config, read_bursts), 1, 64},
    {"scratchpad_bytes", offsetof(struct hd_config, scratchpad_bytes), 32, 16u << 20},
    {"weight_bytes", offsetof(struct hd_config, weight_bytes), 16, 2u << 20},
};

#define N_SIZES (sizeof sizes / sizeof sizes[0])

static uint32_t *size_of(struct hd_config *c, const struct size_member *m)
{
    return (uint32_t *)((char *)c + m->offset);
}

static bool power_of_two(uint32_t x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

static enum status check_powers(const struct hd_config *c, const char *where, struct diag *d)
{
    const struct {
        const char *key;
        uint32_t value;
    } powers[] = {
        {"n", c->n},
        {"acc_depth", c->acc_depth},
        {"axi_bytes", c->axi_bytes},
        {"param_entries", c->param_entries},
    };

    for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
        if (!power_of_two(powers[i].value))
            return FAIL(d, ST_USAGE, "%s: \"%s\": expected a power of two, found %u", where,
                        powers[i].key, powers[i].value);
    return ST_OK;
}

static enum status check_sizes(const struct hd_config *c, const char *where, struct diag *d)
{
    TRY(check_powers(c, where, d));
    if (c->scratchpad_bytes % (c->banks * c->n) != 0 || !power_of_two(c->scratchpad_bytes / c->n))
        return FAIL(d, ST_USAGE,
                    "%s: \"scratchpad_bytes\": expected a power of two of words of %u bytes (n), "
                    "at least one in each of the %u banks, found %u",
                    where, c->n, c->banks, c->scratchpad_bytes);
    if (c->weight_bytes % c->n != 0 || c->weight_bytes < c->n * c->n)
        return FAIL(d, ST_USAGE,
                    "%s: \"weight_bytes\": expected a multiple of %u (n), at least %u (one "
                    "segment of n x n), found %u",
                    where, c->n, c->n * c->n, c->weight_bytes);
    if (c->weight_bytes / c->n > 65536)
        return FAIL(d, ST_USAGE,
                    "%s: \"weight_bytes\": expected at most 65536 words of %u (n), found %u", where,
                    c->n, c->weight_bytes);
    return ST_OK;
}

static enum status read_name(struct hd_config *c, const cJSON *object, const char *where,
                             struct diag *d)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    size_t n;

    if (!cJSON_IsString(name))
        return FAIL(d, ST_USAGE, "%s: \"name\": expected a string", where);
    n = strlen(name->valuestring);
    if (n == 0 || n >= sizeof c->name || strspn(name->valuestring, allowed) != n)
        return FAIL(d, ST_USAGE,
                    "%s: \"name\": expected 1 to %zu letters, digits, '_' or '-', found '%.40s'",
                    where, sizeof c->name - 1, name->valuestring);
    memcpy(c->name, name->valuestring, n + 1);
    return ST_OK;
}

static uint32_t fnv1a(uint32_t hash, const char *s)
{
    for (; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 16777619u;
    return hash;
}

static uint32_t config_hash(const struct accel *acc, struct hd_config *c)
{
    uint32_t hash = fnv1a(2166136261u, acc->hash_before);
    char member[64];

    for (size_t i = 0; i < N_SIZES; i++) {
        (void)snprintf(member, sizeof member, "%s\"%s\":%u", i == 0 ? "{" : ",", sizes[i].key,
                       *size_of(c, &sizes[i]));
        hash = fnv1a(hash, member);
    }
    return fnv1a(fnv1a(hash, "}"), acc->hash_after);
}

enum status config_read(const struct accel *acc, const cJSON *object, const char *where,
                        struct hd_config *out, struct diag *d)
{
    struct hd_config c = {.n = 0};

    TRY(json_only(object, where,
                  "name doc n scratchpad_bytes banks ports weight_bytes acc_depth param_entries "
                  "axi_bytes axi_addr_bits read_bursts",
                  d));
    TRY(read_name(&c, object, where, d));
    for (size_t i = 0; i < N_SIZES; i++)
        TRY(json_uint(object, where, sizes[i].key, sizes[i].low, sizes[i].high,
                      size_of(&c, &sizes[i]), d));
    TRY(check_sizes(&c, where, d));
    c.hash = config_hash(acc, &c);
    *out = c;
    return ST_OK;
}

enum status accel_config_by_name(const struct accel *acc, const char *name, struct hd_config *out,
                                 struct diag *d)
{
    char names[512] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < acc->n_configs; i++) {
        int n;

        if (strcmp(acc->configs[i].name, name) == 0) {
            *out = acc->configs[i];
            return ST_OK;
        }
        n = snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                     acc->configs[i].name);
        if (n > 0 && (size_t)n < sizeof names - used)
            used += (size_t)n;
    }
    return FAIL(d, ST_USAGE,
                "no hardware configuration '%.60s': expected one of %s, or a JSON file", name,
                names);
}

enum status accel_config_from_json(struct arena *a, const struct accel *acc, const char *text,
                                   size_t n, const char *where, struct hd_config *out,
                                   struct diag *d)
{
    cJSON *root;
    enum status st;

    TRY(json_parse(a, text, n, where, &root, d));
    st = config_read(acc, root, where, out, d);
    cJSON_Delete(root);
    return st;
}

enum status accel_config_find(struct arena *a, const struct accel *acc, const char *name_or_path,
                              struct hd_config *out, struct diag *d)
{
    uint8_t *data;
    size_t n_bytes;

    if (strpbrk(name_or_path, "/.") == NULL)
        return accel_config_by_name(acc, name_or_path, out, d);
    TRY(file_read(a, name_or_path, MAX_CONFIG_FILE_BYTES, &data, &n_bytes, d));
    return accel_config_from_json(a, acc, (const char *)data, n_bytes, name_or_path, out, d);
}
