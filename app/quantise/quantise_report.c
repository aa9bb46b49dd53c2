/* quantise_report.c - the cost of quantisation, as a table or JSON: layers with their errors, and
 * which one is worth keeping as float. */
#include <math.h>

#include "quantise_command.h"

static const char *const ranges[] = {"minmax", "percentile", "mse"};

/* Return the layer that gains the most as float; NULL if none gains 0.1 dB. */
static const struct quant_layer *best(const struct quant_result *r)
{
    const struct quant_layer *found = NULL;
    double most = r->output + 0.1;

    for (uint32_t i = 0; i < r->n_layer; i++)
        if (fabs(r->layer[i].kept) > 0 && r->layer[i].kept > most) {
            found = &r->layer[i];
            most = found->kept;
        }
    return found;
}

static uint32_t n_quantised(const struct quant_result *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_layer; i++)
        n += r->layer[i].quantised;
    return n;
}

/* Return "31.8 dB", "exact" without noise, or "-" without a signal. */
static const char *decibel(struct arena *a, double v, const char *unit)
{
    if (isfinite(v))
        return arena_printf(a, "%.1f%s", v, unit);
    return v > 0 ? "exact" : "-";
}

static void print_text(const struct options *o, const struct ir_graph *g, uint32_t n_sample,
                       const struct quant_result *r, struct text *t)
{
    const struct quant_layer *keep = best(r);

    text_printf(t, "%s: %u of %u layers quantised, ranges of %u samples by %s%s%s%s%s; %zu bytes\n",
                o->out, n_quantised(r), r->n_layer, n_sample, ranges[o->ranges],
                o->bias_correction ? ", biases corrected" : "",
                r->limits.per_tensor ? ", one scale a tensor" : "",
                r->limits.power_of_two ? ", powers of two" : "",
                r->limits.no_zero ? ", no zero points" : "", r->n_bytes);
    text_printf(t, "signal to quantisation noise of the outputs: %s\n",
                decibel(t->arena, r->output, " dB"));
    if (keep)
        text_printf(t, "with --keep-float=%s: %s\n", g->row[keep->row].name,
                    decibel(t->arena, keep->kept, " dB"));
    text_printf(t, "\n%-28s %-16s %-16s %8s %8s  %s\n", "layer", "operator", "output", "alone dB",
                "here dB", "if float");
    for (uint32_t i = 0; i < r->n_layer; i++) {
        const struct quant_layer *l = &r->layer[i];
        const struct ir_row *row = &g->row[l->row];

        text_printf(t, "%-28s ", row->name);
        text_printf(t, "%-16.16s %-16.16s %8s %8s", row->op, row->shape,
                    decibel(t->arena, l->own, ""), decibel(t->arena, l->network, ""));
        if (!l->quantised)
            text_printf(t, "  float: %s", l->reason);
        else if (fabs(l->kept) > 0)
            text_printf(t, "  outputs %s", decibel(t->arena, l->kept, " dB"));
        text_add(t, "\n");
    }
}

/* Add a number, or null without noise or without a signal. */
static void add_json_decibel(struct text *t, const char *name, double v)
{
    if (isfinite(v))
        text_printf(t, ", \"%s\": %.2f", name, v);
    else
        text_printf(t, ", \"%s\": null", name);
}

static void print_json(const struct options *o, const struct ir_graph *g, uint32_t n_sample,
                       const struct quant_result *r, struct text *t)
{
    const struct quant_layer *keep = best(r);

    text_add(t, "{\"schema\": \"heddle.quantise.v1\", \"file\": ");
    text_add_json(t, o->out);
    text_printf(t, ", \"samples\": %u, \"ranges\": \"%s\", \"bias_correction\": %s", n_sample,
                ranges[o->ranges], o->bias_correction ? "true" : "false");
    text_printf(t, ", \"per_tensor\": %s, \"power_of_two\": %s, \"zero_points\": %s",
                r->limits.per_tensor ? "true" : "false", r->limits.power_of_two ? "true" : "false",
                r->limits.no_zero ? "false" : "true");
    add_json_decibel(t, "output_db", r->output);
    text_add(t, ",\n \"keep_float\": ");
    if (keep)
        text_add_json(t, g->row[keep->row].name);
    else
        text_add(t, "null");
    text_add(t, ",\n \"layers\": [");
    for (uint32_t i = 0; i < r->n_layer; i++) {
        const struct quant_layer *l = &r->layer[i];

        text_printf(t, "%s\n  {\"layer\": ", i ? "," : "");
        text_add_json(t, g->row[l->row].name);
        text_add(t, ", \"op\": ");
        text_add_json(t, g->row[l->row].op);
        text_add(t, ", \"tensor\": ");
        text_add_json(t, g->row[l->row].tensor);
        text_printf(t, ", \"quantised\": %s", l->quantised ? "true" : "false");
        if (l->reason) {
            text_add(t, ", \"reason\": ");
            text_add_json(t, l->reason);
        }
        add_json_decibel(t, "alone_db", l->own);
        add_json_decibel(t, "network_db", l->network);
        if (fabs(l->kept) > 0)
            add_json_decibel(t, "output_db_if_float", l->kept);
        text_add(t, "}");
    }
    text_add(t, "\n ]}\n");
}

void quantise_report(const struct options *o, const struct ir_graph *g, uint32_t n_sample,
                     const struct quant_result *r, struct text *t)
{
    if (o->format == FORMAT_JSON)
        print_json(o, g, n_sample, r, t);
    else
        print_text(o, g, n_sample, r, t);
}
