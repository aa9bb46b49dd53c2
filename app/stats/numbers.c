/* numbers.c - see numbers.h. */
#include "numbers.h"

#include "stats_member.h"

/* A member: absent, null, or a number that is a sum over n inferences. */
struct value {
    enum { VALUE_ABSENT, VALUE_NULL, VALUE_COUNT, VALUE_MEAN, VALUE_REAL } kind;
    uint64_t sum;
    double real;
};

static const struct value NONE = {VALUE_ABSENT, 0, 0};

static struct value count(uint64_t n)
{
    return (struct value){VALUE_COUNT, n, 0};
}

static struct value mean(uint64_t sum)
{
    return (struct value){VALUE_MEAN, sum, 0};
}

static struct value real(double v)
{
    return (struct value){VALUE_REAL, 0, v};
}

static struct value count_if(bool is, uint64_t n)
{
    return is ? count(n) : (struct value){VALUE_NULL, 0, 0};
}

static struct value mean_if(bool is, uint64_t sum)
{
    return is ? mean(sum) : (struct value){VALUE_NULL, 0, 0};
}

static void add_value(cJSON *o, const char *name, const struct value *v, uint32_t n)
{
    switch (v->kind) {
    case VALUE_ABSENT: break;
    case VALUE_NULL: cJSON_AddNullToObject(o, name); break;
    case VALUE_COUNT: stats_count(o, name, v->sum); break;
    case VALUE_MEAN: stats_mean(o, name, v->sum, n); break;
    case VALUE_REAL: cJSON_AddNumberToObject(o, name, v->real); break;
    }
}

#define RUN(width, value) value
#define NOT_OF_RUN        NONE
#define VALUE_OF(of, name, expression)                                                             \
    static struct value of##_##name(const struct numbers *v)                                       \
    {                                                                                              \
        (void)v;                                                                                   \
        return expression;                                                                         \
    }
#define COLUMN(name, place, type, csv, heading, width, cell, label, meaning, in_layer, in_group,   \
               in_run)                                                                             \
    VALUE_OF(layer, name, in_layer) VALUE_OF(group, name, in_group) VALUE_OF(run, name, in_run)
#include "columns.def"
#undef COLUMN

/* The values in the order of columns[]. */
static const struct {
    struct value (*layer)(const struct numbers *v), (*group)(const struct numbers *v),
        (*run)(const struct numbers *v);
} sources[] = {
#define COLUMN(name, ...) {layer_##name, group_##name, run_##name},
#include "columns.def"
#undef COLUMN
};

static struct value value_of(const struct numbers *v, size_t i)
{
    return v->account ? sources[i].run(v) : v->layer ? sources[i].layer(v) : sources[i].group(v);
}

void numbers_add(cJSON *o, const struct numbers *v, enum column_place place)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (columns[i].place == place) {
            const struct value x = value_of(v, i);
            add_value(o, columns[i].name, &x, v->job->n);
        }
}
