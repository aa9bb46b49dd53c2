/* gtkw.c - write a GTKWave save file. Format: as GTKWave 3.3.118 writes it; flags are its TR_ bits
 * in hexadecimal. */
#define _GNU_SOURCE
#include "gtkw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "hd_accel.h"
#include "hd_accel_tables.h"

enum { MARKERS = 26, NS_PER_CYCLE = 10, VIEW_PIXELS = 1200 };

#define FLAG_BIT        "@28"
#define FLAG_HEX        "@22"
#define FLAG_DECIMAL    "@24"
#define FLAG_TEXT       "@820"
#define FLAG_ENUM       "@100000028"
#define FLAG_GROUP      "@800200"
#define FLAG_GROUP_SHUT "@c00200" /* collapsed */
#define FLAG_GROUP_END  "@1000200"
#define FLAG_SHUT_END   "@1401200"

struct signal {
    const char *flag, *name;
};

static const struct signal bus_signals[] = {
    {FLAG_BIT, "m_arvalid_o"},        {FLAG_BIT, "m_arready_i"},        {FLAG_HEX, "m_arid_o[3:0]"},
    {FLAG_DECIMAL, "m_arlen_o[7:0]"}, {FLAG_BIT, "m_rvalid_i"},         {FLAG_BIT, "m_rready_o"},
    {FLAG_HEX, "m_rid_i[3:0]"},       {FLAG_BIT, "m_rlast_i"},          {FLAG_BIT, "m_awvalid_o"},
    {FLAG_BIT, "m_awready_i"},        {FLAG_DECIMAL, "m_awlen_o[7:0]"}, {FLAG_BIT, "m_wvalid_o"},
    {FLAG_BIT, "m_wready_i"},         {FLAG_BIT, "m_wlast_o"},          {FLAG_BIT, "m_bvalid_i"},
    {FLAG_BIT, "m_bready_o"}};

static const struct signal register_signals[] = {
    {FLAG_BIT, "s_awvalid_i"},    {FLAG_BIT, "s_awready_o"},      {FLAG_HEX, "s_awaddr_i[11:0]"},
    {FLAG_BIT, "s_wvalid_i"},     {FLAG_BIT, "s_wready_o"},       {FLAG_HEX, "s_wdata_i[31:0]"},
    {FLAG_BIT, "s_arvalid_i"},    {FLAG_HEX, "s_araddr_i[11:0]"}, {FLAG_BIT, "s_rvalid_o"},
    {FLAG_HEX, "s_rdata_o[31:0]"}};

static const struct signal commit_signals[] = {
    {FLAG_BIT, "commit_q_valid_o"}, {FLAG_HEX, "commit_q_addr_o[31:0]"},
    {FLAG_BIT, "commit_l_valid_o"}, {FLAG_HEX, "commit_l_word_o[31:0]"},
    {FLAG_BIT, "commit_w_valid_o"}, {FLAG_HEX, "commit_w_word_o[31:0]"},
    {FLAG_BIT, "commit_m_valid_o"}};

static void group(struct text *t, const char *title, const struct signal *signals, size_t n)
{
    text_printf(t, FLAG_GROUP_SHUT "\n-%s\n", title);
    for (size_t i = 0; i < n; i++)
        text_printf(t, "%s\nTOP.hd_sim_top.%s\n", signals[i].flag, signals[i].name);
    text_printf(t, FLAG_SHUT_END "\n-%s\n", title);
}

static void unit_group(struct text *t, const char *unit)
{
    static const struct signal signals[] = {
        {FLAG_TEXT, "layer[255:0]"}, {FLAG_TEXT, "op[63:0]"},         {FLAG_TEXT, "tile[255:0]"},
        {FLAG_ENUM, "does[2:0]"},    {FLAG_DECIMAL, "command[31:0]"}, {FLAG_BIT, "done"}};

    text_printf(t, FLAG_GROUP "\n-%s\n", unit);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        text_printf(t, "%s\nTOP.hd_sim_top.u_%s.%s\n", signals[i].flag, unit, signals[i].name);
    text_printf(t, FLAG_GROUP_END "\n-%s\n", unit);
}

/* The view from `first` to `last`, and the markers in it. */
static void add_view(struct text *t, const struct gtkw_marker *markers, uint32_t n, uint64_t first,
                     uint64_t last)
{
    const double ns = (double)(last > first ? last - first : 100) * NS_PER_CYCLE;

    /* Zoom z shows 2^-z time units in 200 pixels. */
    text_printf(t, "*%.6f %llu", -log2(ns * 200 / VIEW_PIXELS),
                (unsigned long long)first * NS_PER_CYCLE);
    for (uint32_t i = 0; i < MARKERS; i++) {
        if (i < n)
            text_printf(t, " %llu", (unsigned long long)markers[i].cycle * NS_PER_CYCLE);
        else
            text_add(t, " -1");
    }
    text_add(t, "\n");
    for (uint32_t i = 0; i < n && i < MARKERS; i++) {
        text_printf(t, "[markername] %c", 'A' + (int)i);
        text_add_escaped(t, markers[i].name, 60);
        text_add(t, "\n");
    }
}

static void header(struct text *t, const char *fst, const struct gtkw_marker *markers, uint32_t n,
                   uint64_t first, uint64_t last)
{
    const char *const slash = strrchr(fst, '/'), *const name = slash != NULL ? slash + 1 : fst;

    text_add(t, "[*]\n[*] heddle: waves of one run. Markers: the first command of each layer or "
                "group.\n[*]\n");
    /* The waves are next to this file. GTKWave computes the relative path from savefile to dumpfile
     * and applies it to where it finds this file, so a folder may move and no absolute path is
     * written. */
    text_printf(t, "[dumpfile] \"/heddle/%s\"\n[savefile] \"/heddle/waves.gtkw\"\n", name);
    text_printf(t, "[timestart] %llu\n[size] 1600 900\n[pos] -1 -1\n",
                (unsigned long long)first * NS_PER_CYCLE);
    add_view(t, markers, n, first, last);
    text_add(t, "[treeopen] TOP.\n[treeopen] TOP.hd_sim_top.\n[sst_width] 250\n[signals_width] "
                "220\n[sst_expanded] 1\n");
}

enum status gtkw_write(struct arena *a, const char *path, const char *fst, bool host,
                       const struct gtkw_marker *markers, uint32_t n_markers, uint64_t first_cycle,
                       uint64_t last_cycle, struct diag *d)
{
    struct text t;

    text_init(&t, a);
    header(&t, fst, markers, n_markers, first_cycle, last_cycle);
    text_add(&t, FLAG_DECIMAL "\nTOP.hd_sim_top.u_submission.cycle[63:0]\n");
    text_add(&t, FLAG_BIT "\nTOP.hd_sim_top.clk_i\nTOP.hd_sim_top.irq_o\n");
    if (host)
        text_add(&t, FLAG_TEXT "\nTOP.hd_sim_top.u_host.executes[255:0]\n");
    for (uint32_t u = 0; u < HD_UNIT_COUNT; u++)
        unit_group(&t, hd_unit_names[u]);
    group(&t, "memory bus", bus_signals, sizeof bus_signals / sizeof bus_signals[0]);
    group(&t, "register bus", register_signals,
          sizeof register_signals / sizeof register_signals[0]);
    group(&t, "commits", commit_signals, sizeof commit_signals / sizeof commit_signals[0]);
    text_add(&t, "[pattern_trace] 1\n[pattern_trace] 0\n");
    return file_write(path, t.data, t.length, d);
}

enum status gtkw_core(struct arena *a, const char *path, const char *fst, const char *top,
                      const char *ports, const struct gtkw_marker *markers, uint32_t n_markers,
                      struct diag *d)
{
    const uint64_t last = n_markers ? markers[n_markers - 1].cycle : 0;
    struct text t;
    uint8_t *data;
    size_t n;
    char *rest, *line;

    TRY(file_read(a, ports, (size_t)1 << 20, &data, &n, d));
    rest = (char *)data;
    text_init(&t, a);
    text_printf(&t, "[*]\n[*] heddle: waves of the core %s.\n[*]\n", top);
    text_printf(&t, "[dumpfile] \"/heddle/%s\"\n[savefile] \"/heddle/waves.gtkw\"\n", fst);
    text_add(&t, "[size] 1600 900\n[pos] -1 -1\n");
    if (n_markers)
        add_view(&t, markers, n_markers, markers[0].cycle, last + 100);
    text_printf(&t, "[treeopen] TOP.\n[sst_width] 250\n"
                    "[signals_width] 220\n[sst_expanded] 1\n");
    while ((line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0')
            text_printf(&t, "%s\nTOP.%s.%s\n", strchr(line, '[') != NULL ? FLAG_HEX : FLAG_BIT, top,
                        line);
    text_add(&t, "[pattern_trace] 1\n[pattern_trace] 0\n");
    return file_write(path, t.data, t.length, d);
}

static int by_cycle(const void *x, const void *y)
{
    const struct gtkw_marker *const a = x, *const b = y;

    return (a->cycle > b->cycle) - (a->cycle < b->cycle);
}

void gtkw_layers(const struct hd_sim_command *commands, uint32_t n_commands, uint64_t doorbell,
                 const char *const *layer_names, uint32_t n_layers, struct gtkw_marker *markers,
                 uint32_t *n)
{
    const uint32_t before = *n;

    for (uint32_t layer = 0; layer < n_layers; layer++) {
        uint64_t start = UINT64_MAX;

        for (uint32_t i = 0; i < n_commands; i++)
            if (commands[i].layer == layer && commands[i].unit != HD_UNIT_FETCH &&
                commands[i].done != 0 && commands[i].start < start)
                start = commands[i].start;
        if (start != UINT64_MAX)
            markers[(*n)++] = (struct gtkw_marker){layer_names[layer], doorbell + start};
    }
    if (*n != before)
        qsort(markers + before, *n - before, sizeof *markers, by_cycle);
}
