/* The formulas of hw/model.csv give what yosys counted: units and wholes of the table, wholes that
 * are not in it. Blocks of memories. Lines that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "hw/gen/accel.h"
#include "hw/gen/area_model.h"

enum { COLUMNS = 32, MAX_BYTES = 1 << 20, UNITS = 60, UNSEEN = 7 };

static struct arena *a;
static const char *model;

static const char *read_text(const char *path)
{
    struct diag d = {.status = ST_OK};
    uint8_t *text;
    size_t n;

    if (file_read(a, path, MAX_BYTES, &text, &n, &d) != ST_OK)
        fail_msg("%s", d.text);
    return (const char *)text;
}

static int load(void **state)
{
    (void)state;
    a = arena_new(0);
    model = read_text("hw/model.csv");
    return 0;
}

static int unload(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

/* --- tables of hw/ ---------------------------------------------------------------------------- */

struct table {
    const char *name[COLUMNS];
    char *value[COLUMNS];
    int n;
    char *next; /* the rest of the file */
};

static int split(char *line, char **out)
{
    int n = 0;

    for (char *at = line; at && n < COLUMNS; n++) {
        out[n] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    return n;
}

static bool next_line(struct table *t, char **out)
{
    char *line = t->next, *end = strchr(line, '\n');

    if (!*line || !end)
        return false;
    *end = '\0';
    t->next = end + 1;
    t->n = split(line, out);
    return true;
}

static void begin(struct table *t, const char *path)
{
    char *names[COLUMNS];

    t->next = arena_strdup(a, read_text(path));
    assert_true(next_line(t, names));
    for (int i = 0; i < t->n; i++)
        t->name[i] = names[i];
}

static const char *cell(const struct table *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->name[i], name) == 0)
            return t->value[i];
    fail_msg("no column %s", name);
    return NULL;
}

static void config_of(const struct table *t, struct hd_config *c)
{
    *c = (struct hd_config){.banks = 8};
    for (const struct accel_size *s = accel_sizes; s->name; s++)
        if (strcmp(s->name, "banks") != 0)
            *(uint32_t *)((char *)c + s->offset) = (uint32_t)atoi(cell(t, s->name));
}

static void model_of(const struct hd_config *c, struct area_model *m)
{
    struct diag d = {.status = ST_OK};

    if (area_model(model, "hw/model.csv", c, m, &d) != ST_OK)
        fail_msg("%s", d.text);
}

/* --- tests ------------------------------------------------------------------------------------ */

/* A unit may be off by a fifth and 80 cells: yosys's own result of one logic differs by a
 * twentieth. */
static void units_are_as_counted(void **state)
{
    struct table t;
    struct hd_config c;
    struct area_model m;
    int n = 0;

    (void)state;
    for (begin(&t, "hw/model_units.csv"); next_line(&t, t.value); n++) {
        const struct area_unit *u = m.unit;
        config_of(&t, &c);
        model_of(&c, &m);
        while (u < m.unit + m.n && strcmp(u->name, cell(&t, "unit")) != 0)
            u++;
        assert_true(u < m.unit + m.n);
        for (int k = 0; k < AREA_RESOURCES; k++) {
            const double want = atof(cell(&t, area_resources[k])), off = u->count[k] - want;
            const bool exact = k == AREA_MULT18X18D || k == AREA_DP16KD;
            if (fabs(off) > (exact ? 0 : 0.2 * want + 80))
                fail_msg("line %d, %s: %s %.0f, counted %.0f", n + 2, u->name, area_resources[k],
                         u->count[k], want);
        }
    }
    assert_true(n >= UNITS);
}

static void wholes_are_as_counted(void **state)
{
    struct table t;
    struct hd_config c;
    struct area_model m;
    double sum = 0;
    int n = 0;

    (void)state;
    for (begin(&t, "hw/model_configs.csv"); next_line(&t, t.value);) {
        config_of(&t, &c);
        model_of(&c, &m);
        const double want = atof(cell(&t, "lut4")), off = fabs(m.whole[AREA_LUT4] / want - 1);
        const bool unseen = strcmp(cell(&t, "set"), "unseen") == 0;
        if (off > (unseen ? 0.10 : 0.05))
            fail_msg("%s: %.0f LUT4, counted %.0f", cell(&t, "set"), m.whole[AREA_LUT4], want);
        assert_true(m.whole[AREA_MULT18X18D] == atof(cell(&t, "mult18x18d")));
        assert_true(m.whole[AREA_DP16KD] == atof(cell(&t, "dp16kd")));
        sum += unseen ? off : 0;
        n += unseen;
    }
    assert_true(n >= UNSEEN && sum / n < 0.05);
}

static void blocks_follow_from_the_memory(void **state)
{
    (void)state;
    assert_int_equal(area_blocks(32, 32, 1), 0);     /* 16 DPR16X4 */
    assert_int_equal(area_blocks(32, 64, 1), 1);     /* 512 x 36 */
    assert_int_equal(area_blocks(64, 1024, 8), 4);   /* bytes of nine bits */
    assert_int_equal(area_blocks(64, 2048, 1), 8);   /* 1024 x 18 */
    assert_int_equal(area_blocks(128, 4096, 1), 30); /* 2048 x 9 */
}

static void expect_bad(const char *text, const char *message)
{
    struct hd_config c = {.n = 4, .rows = 4, .columns = 4};
    struct area_model m;
    struct diag d = {.status = ST_OK};

    assert_int_equal(area_model(text, "m.csv", &c, &m, &d), ST_USAGE);
    if (strstr(d.text, message) == NULL)
        fail_msg("expected '%s' in '%s'", message, d.text);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    expect_bad("unit\n", "m.csv:1: expected 'unit,resource,formula' of less than 1024 characters, "
                         "found 'unit'");
    expect_bad("a,b,c\nhd_x,lut4,3*m\n", "m.csv:2: expected a size, words, weight_words, tables, "
                                         "softmax, uneven, root_cells, or log2_ before one, "
                                         "found 'm'");
    expect_bad("a,b,c\nhd_x,lut5,3\n", "m.csv:2: expected a resource or memory, found 'lut5'");
    expect_bad("a,b,c\nhd_x,memory,3; 4\n",
               "m.csv:2: expected 'count; width; depth; lanes', found ' 4'");
    expect_bad("a,b,c\nhd_x,lut4,3)\n", "m.csv:2: expected +, -, * or /, found ')'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_as_counted),
        cmocka_unit_test(wholes_are_as_counted),
        cmocka_unit_test(blocks_follow_from_the_memory),
        cmocka_unit_test(wrong_lines_are_named),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
