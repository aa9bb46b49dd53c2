/* config.c - read, check and hash configurations. */
#include "config_read.h"

#include <stdio.h>
#include <string.h>

#include "area_model.h"
#include "base/file.h"
#include "base/text.h"

enum {
    MAX_CONFIG_FILE_BYTES = 1 << 20,
    SOFTMAX_ROWS = 256,  /* unless stated */
    SOFTMAX_WORDS = 256, /* words of the table of exponentials, as weight addresses */
    LSTM_N = 8,          /* bytes of a cell in a beat */
    LSTM_GATES = 4,      /* columns of a cell */
    CLOCK_MHZ = 100,     /* assumed */
};

const char *const accel_clock_origins[] = {"assumed", "given", "placed", "routed", "model"};

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

/* Check the array's sizes. A word has a lane for each row and each column; lanes beyond them exist
 * in memories and VECTOR only. */
static enum status check_array(const struct hd_config *c, const char *where, struct diag *d)
{
    if (!power_of_two(c->n))
        return FAIL(d, ST_USAGE,
                    "%s: \"n\": expected 4, 8, 16 or 32, found %u: byte addresses are a word and a "
                    "lane of n, split as bits; for an array of %u, state a larger n, and \"rows\" "
                    "and \"columns\"",
                    where, c->n, c->n);
    if (c->rows <= c->n && c->columns <= c->n)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "%s: \"%s\": expected at most %u (n, the lanes of a word), found %u; state a "
                "larger n",
                where, c->rows > c->n ? "rows" : "columns", c->n,
                c->rows > c->n ? c->rows : c->columns);
}

/* Check the spaces: parameters, in quarters of an entry, are loaded at an address of weight memory;
 * a K tile's N words must be fewer than there are. */
static enum status check_spaces(const struct hd_config *c, const char *where, struct diag *d)
{
    const uint32_t most = 2 * c->param_entries > c->n ? 2 * c->param_entries : c->n;

    if (c->weight_bytes / c->n > most)
        return ST_OK;
    return FAIL(d, ST_USAGE,
                "%s: \"weight_bytes\": expected more than %u words of %u (n), as many as n and "
                "2 x param_entries are, found %u",
                where, most, c->n, c->weight_bytes);
}

static enum status check_softmax(const struct hd_config *c, const char *where, struct diag *d)
{
    if (c->softmax_rows != 0 && (!power_of_two(c->softmax_rows) || c->softmax_rows == 1))
        return FAIL(d, ST_USAGE,
                    "%s: \"softmax_rows\": expected 0 or a power of two from 2, found %u", where,
                    c->softmax_rows);
    if (c->softmax_rows != 0 && c->weight_bytes / c->n < SOFTMAX_WORDS)
        return FAIL(d, ST_USAGE,
                    "%s: \"softmax_rows\": expected 0 with less than %u words of weights, found %u",
                    where, (uint32_t)SOFTMAX_WORDS, c->softmax_rows);
    return ST_OK;
}

static enum status check_lstm(const struct hd_config *c, const char *where, struct diag *d)
{
    if (c->lstm != 0 && c->columns % LSTM_GATES != 0)
        return FAIL(d, ST_USAGE,
                    "%s: \"lstm\": expected 0 unless columns are a multiple of %u, the gates of a "
                    "cell, found %u columns",
                    where, (uint32_t)LSTM_GATES, c->columns);
    if (c->lstm == 0 || c->n >= LSTM_N)
        return ST_OK;
    return FAIL(d, ST_USAGE, "%s: \"lstm\": expected 0 with n below %u, found %u", where,
                (uint32_t)LSTM_N, c->lstm);
}

static enum status check_sizes(const struct hd_config *c, const char *where, struct diag *d)
{
    TRY(check_array(c, where, d));
    TRY(check_powers(c, where, d));
    if (c->scratchpad_bytes < 2 * c->banks * c->n || c->scratchpad_bytes % c->n != 0 ||
        !power_of_two(c->scratchpad_bytes / c->n))
        return FAIL(d, ST_USAGE,
                    "%s: \"scratchpad_bytes\": expected a power of two of words of %u bytes (n), "
                    "at least two in each of the %u banks, found %u",
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
    TRY(check_softmax(c, where, d));
    TRY(check_lstm(c, where, d));
    return check_spaces(c, where, d);
}

static enum status read_name(struct hd_config *c, const cJSON *object, const char *where,
                             struct diag *d)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(object, "name");
    size_t n;

    if (!name && *c->name) /* name of its base: name_of_hash */
        return ST_OK;
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

static uint32_t config_hash(const struct accel *acc, struct hd_config *c)
{
    uint32_t hash = text_hash(TEXT_HASH, acc->hash_before, strlen(acc->hash_before));
    char member[64];

    for (const struct accel_size *m = accel_sizes; m->name; m++) {
        if (accel_is_side(m) && accel_size_of(c, m) == c->n)
            continue;
        (void)snprintf(member, sizeof member, "%s\"%s\":%u", m == accel_sizes ? "{" : ",", m->name,
                       accel_size_of(c, m));
        hash = text_hash(hash, member, strlen(member));
    }
    hash = text_hash(hash, "}", 1);
    return text_hash(hash, acc->hash_after, strlen(acc->hash_after));
}

/* Copy everything except the name from the configuration that "base" names. */
static enum status read_base(const struct accel *acc, const cJSON *object, const char *where,
                             struct hd_config *c, struct diag *d)
{
    const cJSON *base = cJSON_GetObjectItemCaseSensitive(object, "base");

    if (!base)
        return ST_OK;
    if (!cJSON_IsString(base))
        return FAIL(d, ST_USAGE, "%s: \"base\": expected the name of a configuration", where);
    if (accel_config_by_name(acc, base->valuestring, c, d) != ST_OK) {
        diag_prefix(d, "%s: \"base\"", where);
        return d->status;
    }
    return ST_OK;
}

/* Make a name such as "sys16-1a2b3c4d", so that two unnamed configurations of one base differ. */
static void name_of_hash(struct hd_config *c)
{
    const size_t most = sizeof c->name - sizeof "-12345678", n = strlen(c->name);

    (void)snprintf(c->name + (n < most ? n : most), sizeof "-12345678", "-%08x", c->hash);
}

/* Read the array's rows and columns. Default: n, unless those of the base differ from its n. */
static enum status read_sides(struct hd_config *c, const cJSON *object, const char *where,
                              uint32_t base_n, struct diag *d)
{
    for (const struct accel_size *m = accel_sizes; m->name; m++) {
        uint32_t *to = (uint32_t *)((char *)c + m->offset);

        if (accel_is_side(m))
            TRY(json_uint_or(object, where, m->name, m->low, m->high, *to == base_n ? c->n : *to,
                             to, d));
    }
    return ST_OK;
}

/* Read softmax rows. Default: none if its words cannot be addressed, otherwise the base's, or
 * SOFTMAX_ROWS. */
static enum status read_softmax_rows(struct hd_config *c, const cJSON *object, const char *where,
                                     bool based, struct diag *d)
{
    const uint32_t rows = c->weight_bytes / c->n < SOFTMAX_WORDS ? 0
                          : based                                ? c->softmax_rows
                                                                 : SOFTMAX_ROWS;

    return json_uint_or(object, where, "softmax_rows", 0, 1024, rows, &c->softmax_rows, d);
}

/* Read the clock. A base's clock belongs to its own sizes: a configuration states its own, or has
 * the model's. */
static enum status read_clock(const struct accel *acc, struct hd_config *c, const cJSON *object,
                              const char *where, struct diag *d)
{
    struct area_model m = {.mhz = 0};
    const cJSON *origin = cJSON_GetObjectItemCaseSensitive(object, "clock_origin");

    c->clock_mhz = CLOCK_MHZ;
    c->clock_origin = HD_CLOCK_ASSUMED;
    if (!origin && !cJSON_HasObjectItem(object, "clock_mhz")) {
        if (acc->model)
            TRY(area_model(acc->model, acc->model_path, c, &m, d));
        if (m.mhz >= 1) {
            c->clock_mhz = (uint32_t)m.mhz;
            c->clock_origin = HD_CLOCK_MODEL;
        }
        return ST_OK;
    }
    TRY(json_uint(object, where, "clock_mhz", 1, 100000, &c->clock_mhz, d));
    c->clock_origin = HD_CLOCK_GIVEN;
    if (!origin)
        return ST_OK;
    for (uint32_t i = HD_CLOCK_ASSUMED; cJSON_IsString(origin) && i <= HD_CLOCK_ROUTED; i++)
        if (strcmp(origin->valuestring, accel_clock_origins[i]) == 0) {
            c->clock_origin = (enum hd_clock_origin)i;
            return ST_OK;
        }
    return FAIL(d, ST_USAGE,
                "%s: \"clock_origin\": expected \"assumed\", \"given\", \"placed\" or "
                "\"routed\", found %.40s",
                where, cJSON_IsString(origin) ? origin->valuestring : "no string");
}

enum status config_read(const struct accel *acc, const cJSON *object, const char *where,
                        struct hd_config *out, struct diag *d)
{
    struct hd_config c = {.n = 0};
    const bool named = cJSON_HasObjectItem(object, "name");

    TRY(json_only(object, where,
                  "name base doc n rows columns scratchpad_bytes banks ports weight_bytes "
                  "acc_depth param_entries "
                  "softmax_rows lstm axi_bytes axi_addr_bits read_bursts clock_mhz clock_origin",
                  d));
    TRY(read_base(acc, object, where, &c, d));
    const bool based = *c.name != '\0';
    const uint32_t n_before = c.n;
    TRY(read_name(&c, object, where, d));
    for (const struct accel_size *m = accel_sizes; m->name; m++) {
        uint32_t *to = (uint32_t *)((char *)&c + m->offset);
        if (to == &c.softmax_rows || to == &c.lstm || accel_is_side(m))
            continue;
        TRY(based ? json_uint_or(object, where, m->name, m->low, m->high, *to, to, d)
                  : json_uint(object, where, m->name, m->low, m->high, to, d));
    }
    TRY(read_sides(&c, object, where, n_before, d));
    TRY(read_softmax_rows(&c, object, where, based, d));
    TRY(json_uint_or(object, where, "lstm", 0, 1, based ? c.lstm : 0, &c.lstm, d));
    TRY(check_sizes(&c, where, d));
    TRY(read_clock(acc, &c, object, where, d));
    c.hash = config_hash(acc, &c);
    if (!named)
        name_of_hash(&c);
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

    if (*name_or_path == '{')
        return accel_config_from_json(a, acc, name_or_path, strlen(name_or_path), "--hw", out, d);
    if (strpbrk(name_or_path, "/.") == NULL)
        return accel_config_by_name(acc, name_or_path, out, d);
    TRY(file_read(a, name_or_path, MAX_CONFIG_FILE_BYTES, &data, &n_bytes, d));
    return accel_config_from_json(a, acc, (const char *)data, n_bytes, name_or_path, out, d);
}
