/* report_first.c - the first lines of the report: verdict, accuracy, end-to-end time, share on
 * accelerators, and the slowest layers with the reason. */
#define _GNU_SOURCE
#include <string.h>

#include "report.h"
#include "report_first.h"
#include "report_read.h"

/* Add the configuration: "sys16"; for several accelerators "a sys16, b sys8". */
static void add_hw(struct text *t, const cJSON *hw)
{
    const cJSON *one;

    if (!cJSON_IsArray(hw)) {
        text_add(t, report_word(hw, "name"));
        return;
    }
    cJSON_ArrayForEach(one, hw) text_printf(t, "%s%s %s", one == hw->child ? "" : ", ",
                                            report_word(one, "instance"), report_word(one, "name"));
}

/* Add " 2 steps (largest 1, 34 values) of the expected outputs". */
static void add_steps(struct text *t, const cJSON *all, const char *against)
{
    const cJSON *one;
    double largest = 0, values = 0;

    cJSON_ArrayForEach(one, report_member(all, "differences"))
    {
        largest = report_number(one, "largest") > largest ? report_number(one, "largest") : largest;
        values += report_number(one, "values");
    }
    text_printf(t, " %.0f steps (largest %.4g, %.0f values) of %s",
                report_number(all, "tolerance_steps"), largest, values, against);
}

static void verdict_line(struct text *t, const cJSON *all)
{
    const char *verdict = report_word(all, "verdict"),
               *against = strcmp(report_word(all, "checked_against"), "ref") == 0
                              ? "the CPU reference"
                              : "the expected outputs";

    if (*report_word(all, "statement")) {
        text_printf(t, "verdict: %s\n", report_word(all, "statement"));
        return;
    }
    text_printf(t, "verdict: %s", verdict);
    if (strcmp(verdict, "within") == 0 && report_number(all, "tolerance_steps") >= 0 &&
        report_number(all, "difference") <= 0) /* no output needed a pattern's tolerance */
        add_steps(t, all, against);
    else if (strcmp(verdict, "within") == 0)
        text_printf(t,
                    " %.3g of the output's range against %s, not bit for bit: operators on "
                    "targets whose patterns round otherwise may add up to %.3g",
                    report_number(all, "difference"), against, report_number(all, "tolerance"));
    else if (strcmp(verdict, "match") == 0)
        text_printf(t, ", bit for bit against %s", against);
    else if (strcmp(verdict, "mismatch") == 0)
        text_printf(t, " against %s", against);
    text_add(t, "\n");
}

/* Return true if every operator runs on the host. */
static bool host_alone(const cJSON *all)
{
    const cJSON *l, *part;
    bool alone = true;

    cJSON_ArrayForEach(l, report_member(all, "layers"))
        cJSON_ArrayForEach(part, report_member(l, "parts")) alone =
            alone && strcmp(report_word(part, "target"), "c") == 0;
    return alone;
}

/* Print the cycles of accelerator, of host, and of both in sequence. */
static void cycles_line(struct text *t, const cJSON *all)
{
    double cycles = report_number(all, "cycles"), host = report_number(all, "host_cycles"),
           estimate = report_number(all, "estimated_cycles"),
           driver = report_number(all, "driver_cycles"), total = report_number(all, "total_cycles"),
           likely = report_number(all, "estimated_total_cycles"),
           crossings = report_number(all, "crossings"), clock = report_number(all, "host_clock");
    const char *const core = report_word(all, "host_core");

    text_printf(t, "%s on ", report_word(all, "model"));
    add_hw(t, report_member(all, "hw"));
    text_printf(t, ", engine %s: %.0f inferences, ", report_word(all, "engine"),
                report_number(all, "inferences"));
    if (host_alone(all) || cycles == 0)
        text_printf(t, "none on the accelerator and %.0f cycles each", host);
    else if (cycles >= 0)
        text_printf(t, "%.1f cycles each on the accelerator and %.0f", cycles, host);
    else
        text_printf(t, "about %.0f cycles each on the accelerator (estimate) and %.0f",
                    estimate > 0 ? estimate : 0, host);
    text_printf(t, " on the host (%s%s%s", report_word(all, "host_model"), *core ? ": " : "", core);
    if (clock > 0 && clock != 1)
        text_printf(t, " at %.3g times the clock", clock);
    text_add(t, ")");
    if (driver >= 0)
        text_printf(t, ", %.0f of them in the driver", driver);
    if (total >= 0)
        text_printf(t, ": %.1f in all", total);
    else if (likely >= 0)
        text_printf(t, ": about %.0f in all", likely);
    if (crossings > 0)
        text_printf(t, ", %.0f crossing%s", crossings, crossings > 1 ? "s" : "");
    text_add(t, "\n");
}

/* Return true if nothing executes the layer's target. */
static bool not_simulated(const cJSON *layer)
{
    return strstr(report_word(layer, "target"), "(not simulated)") != NULL;
}

static void not_simulated_line(struct text *t, const cJSON *all)
{
    const cJSON *l;
    uint32_t n = 0;

    cJSON_ArrayForEach(l, report_member(all, "layers")) n += not_simulated(l);
    if (n)
        text_printf(t,
                    "not simulated: %u layer%s, computed by the host's kernels; their cycles are "
                    "their target's estimate\n",
                    n, n > 1 ? "s" : "");
}

static void macs_line(struct text *t, const cJSON *all)
{
    double macs = report_number(all, "macs"), folded = report_number(all, "folded_macs"),
           used = report_number(all, "utilisation");
    const cJSON *sim = report_member(all, "sim");

    if (macs > 0)
        text_printf(t, "%.0f MACs, %.1f %% on the accelerator", macs,
                    100 * report_number(all, "accelerator_macs") / macs);
    if (macs > 0 && folded > 0)
        text_printf(t, ", %.1f %% folded away", 100 * folded / macs);
    if (used > 0)
        text_printf(t, ", utilisation %.1f %%", 100 * used);
    if (report_number(sim, "cycles_per_second") > 0)
        text_printf(t, "%ssimulated at %.2f M cycles/s", macs > 0 ? "; " : "",
                    report_number(sim, "cycles_per_second") / 1e6);
    if (macs > 0 || report_number(sim, "cycles_per_second") > 0)
        text_add(t, "\n");
}

/* --- the slowest layers --- */

#define SLOWEST 3

/* A layer or group, and the cycles of an inference spent in it. */
struct slow {
    const cJSON *of;
    double cycles, host;
    int group; /* or -1 */
};

static double at_least_0(double v)
{
    return v > 0 ? v : 0;
}

/* Return the cycles of the accelerator: measured, or estimated. */
static double device_cycles(const cJSON *o)
{
    const double cycles = report_number(o, "cycles");

    return cycles >= 0 ? cycles : at_least_0(report_number(o, "estimated_cycles"));
}

/* Insert into the list, slowest first; the first of equal ones stays in front. */
static void insert(struct slow slowest[SLOWEST], struct slow one)
{
    for (int i = 0; i < SLOWEST; i++)
        if (one.cycles > slowest[i].cycles) {
            const struct slow next = slowest[i];
            slowest[i] = one;
            one = next;
        }
}

/* Add "array busy 89 %, drain 8 %", or the reason why it is on the host, or that its cycles are not
 * measured. */
static void add_why(struct text *t, const struct slow *s, double cycles, bool simulated)
{
    const cJSON *unit = report_busier(s->of), *wait = report_worst_wait(unit);
    const char *reason = report_word(s->of, "reason");

    if (s->host > s->cycles / 2)
        text_printf(t, "%son the host%s%s", simulated ? "" : "estimate, ", *reason ? ": " : "",
                    reason);
    else if (unit && cycles > 0)
        text_printf(t, "%s busy %.0f %%", unit->string, 100 * report_number(unit, "busy") / cycles);
    else if (report_number(s->of, "cycles") > 0)
        text_printf(t, "on %s", report_word(s->of, "target"));
    else
        text_add(t, "estimate");
    if (s->host <= s->cycles / 2 && unit && wait && cycles > 0)
        text_printf(t, ", %s %.0f %%", wait->string, 100 * wait->valuedouble / cycles);
    text_add(t, "\n");
}

static void slow_line(struct text *t, const struct slow *s, double total, bool first,
                      bool simulated)
{
    const char *name =
        s->group < 0 ? report_word(s->of, "name") : arena_printf(t->arena, "group %d", s->group);

    text_add(t, first ? "slowest: " : "         ");
    report_name(t, name, 24);
    text_printf(t, "%9.0f cycles %5.1f %%  ", s->cycles, 100 * s->cycles / total);
    if (not_simulated(s->of))
        text_add(t, "not simulated, ");
    add_why(t, s, device_cycles(s->of), simulated);
}

/* Print the slowest layers. Members of a group have cycles on the host only. */
static void slowest_lines(struct text *t, const cJSON *all)
{
    struct slow slowest[SLOWEST] = {{NULL, 0, 0, 0}};
    const cJSON *one;
    double total = 0;
    int n = 0;

    cJSON_ArrayForEach(one, report_member(all, "layers"))
    {
        const double host = at_least_0(report_number(one, "host_cycles"));
        const double own = report_number(one, "group") >= 0 ? 0 : device_cycles(one);
        total += own + host;
        insert(slowest, (struct slow){one, own + host, host, -1});
    }
    cJSON_ArrayForEach(one, report_member(all, "groups"))
    {
        total += device_cycles(one);
        insert(slowest, (struct slow){one, device_cycles(one), 0, n++});
    }
    for (int i = 0; i < SLOWEST && slowest[i].of; i++)
        slow_line(t, &slowest[i], total, i == 0,
                  strcmp(report_word(all, "host_model"), "estimate") != 0);
}

/* Print the classes of the first inferences (--labels=auto). */
static void classes_line(struct text *t, const cJSON *all)
{
    enum { SHOWN = 8 };
    const cJSON *one;
    int n = 0;

    cJSON_ArrayForEach(one, report_member(all, "classes"))
    {
        if (n < SHOWN)
            text_printf(t, "%s%.80s", n ? ", " : "classes: ", one->valuestring);
        n++;
    }
    if (n)
        text_printf(t, "%s\n", n > SHOWN ? ", ..." : "");
}

void report_first(struct text *t, const cJSON *all, enum report_detail detail)
{
    const char *const oracle = report_word(report_member(all, "oracle"), "text");

    verdict_line(t, all);
    if (*report_word(all, "proof"))
        text_printf(t, "%s\n", report_word(all, "proof"));
    if (*oracle)
        text_printf(t, "second opinion: %s\n", oracle);
    if (detail == REPORT_VERDICT)
        return;
    classes_line(t, all);
    if (report_number(all, "accuracy") >= 0)
        text_printf(t, "accuracy: %.2f %%\n", 100 * report_number(all, "accuracy"));
    cycles_line(t, all);
    macs_line(t, all);
    not_simulated_line(t, all);
    slowest_lines(t, all);
}
