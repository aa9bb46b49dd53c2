/* array.c - ARRAY over terms: the loop nest of docs/HARDWARE.md. A sum is a polynomial with bounds;
 * weights are constants, or terms too. */
#include <string.h>

#include "driver/hd_walk.h"
#include "package.h"

enum { MAX_N = 64, HALF_LOWER = 2 };

/* A lane: the element of x - z_in, and its bounds. All 0: nothing there. */
struct lane {
    prove_wide part[2];
    int64_t low, high;
    uint32_t term; /* PROVE_NOTHING: outside the image */
};

struct array_job {
    struct prove_device *v;
    const struct hd_cmd_array *c;
    uint32_t n, tile, columns, block, y, rows, first, last;
    bool upper; /* the segment adds to 256 times the accumulators */
    struct hd_segment seg;
    int64_t source[HD_WALK_PORTS];
    bool inside[HD_WALK_PORTS];
    bool constant;                  /* all weights of the segment */
    uint32_t weight[MAX_N * MAX_N]; /* terms */
    int32_t w[MAX_N * MAX_N];       /* constants, zero point subtracted */
};

static int fetch_weights(struct array_job *j, uint32_t word)
{
    struct prove *p = j->v->package->p;

    if ((uint64_t)(word + j->seg.len) * j->n > j->v->weights.n)
        return prove_fault(j->v, "weights beyond their memory");
    prove_order_read(j->v, HD_SPACE_WEIGHTS, (uint64_t)word * j->n, j->seg.len * j->n);
    j->constant = true;
    for (uint32_t i = 0; i < j->seg.len * j->n; i++) {
        const uint32_t t = prove_at(p, &j->v->weights, (uint64_t)word * j->n + i);

        j->weight[i] = t;
        j->constant = j->constant && prove_is_constant(t);
        j->w[i] = p->term[t].low - j->c->z_w;
    }
    return 0;
}

static int find_rows(struct array_job *j)
{
    const struct hd_cmd_array *c = j->c;

    for (uint32_t g = 0; g < j->seg.n_pieces; g++) {
        const int64_t ky = j->seg.piece[g].ky;
        const int64_t iy = c->y_start + (int64_t)j->block * c->block_step_y +
                           (int64_t)j->y * c->stride_y + ky * c->dilation_y;
        const int64_t at = c->in_row + (int64_t)j->block * c->in_block_step +
                           (int64_t)j->y * c->in_pitch_step + ky * c->in_pitch_dil;

        j->inside[g] = iy >= 0 && iy < (int64_t)c->in_h;
        j->source[g] = at;
        if (j->inside[g] && (at < 0 || (uint64_t)at + c->in_wc > j->v->scratchpad.n))
            return prove_fault(j->v, "an image row outside the scratchpad");
    }
    return 0;
}

static void gather(const struct array_job *j, int64_t p0, struct lane *lanes)
{
    struct prove *p = j->v->package->p;

    for (uint32_t g = 0; g < j->seg.n_pieces; g++) {
        const struct hd_piece *piece = &j->seg.piece[g];
        const int64_t from = p0 + piece->of, to = from + piece->hi - piece->lo,
                      first = from < 0 ? 0 : from, end = to < j->c->in_wc ? to : j->c->in_wc;

        if (j->inside[g] && first < end)
            prove_order_read(j->v, HD_SPACE_SCRATCHPAD, (uint64_t)(j->source[g] + first),
                             (uint64_t)(end - first));
        for (uint32_t i = 0; i < piece->hi - piece->lo; i++) {
            const int64_t at = from + i;
            struct lane *lane = &lanes[piece->lo + i];

            *lane = (struct lane){.term = PROVE_NOTHING};
            if (!j->inside[g] || at < 0 || at >= (int64_t)j->c->in_wc)
                continue;
            lane->term = prove_at(p, &j->v->scratchpad, (uint64_t)(j->source[g] + at));
            const struct prove_term *t = &p->term[lane->term];
            lane->part[0] = (prove_wide)(uint64_t)t->element - j->c->z_in;
            lane->part[1] = (prove_wide)(t->element >> 64);
            lane->low = t->low - j->c->z_in;
            lane->high = t->high - j->c->z_in;
        }
    }
}

/* The sums of [from, to) were `before`: if a first term that is not constant was added, and no other, it is noted. */
static void note_only(const struct array_job *j, const struct lane *lanes,
                      const int64_t before[MAX_N], struct prove_sum *sum, uint32_t from,
                      uint32_t to)
{
    for (uint32_t col = from; col < to; col++) {
        const int64_t width = sum[col].high - sum[col].low;
        uint32_t l = 0;

        if (width == before[col])
            continue;
        sum[col].only = PROVE_NOTHING;
        if (before[col] != 0)
            continue;
        while (j->w[l * j->n + col] == 0 || lanes[l].low == lanes[l].high)
            l++;
        const int64_t w = j->w[l * j->n + col];
        if ((w < 0 ? -w : w) * (lanes[l].high - lanes[l].low) == width)
            sum[col].only = lanes[l].term;
    }
}

static void multiply(const struct array_job *j, const struct lane *lanes, struct prove_sum *sum,
                     uint32_t from, uint32_t to)
{
    const struct prove *p = j->v->package->p;
    int64_t before[MAX_N];

    for (uint32_t col = from; col < to; col++)
        before[col] = sum[col].high - sum[col].low;
    for (uint32_t l = 0; l < j->seg.len; l++) {
        if (lanes[l].term == PROVE_NOTHING)
            continue;
        for (uint32_t col = from; col < to; col++) {
            const int64_t w = j->w[l * j->n + col];

            if (!j->constant) {
                prove_add_product(&sum[col], p, lanes[l].term, -j->c->z_in,
                                  j->weight[l * j->n + col], -j->c->z_w);
                continue;
            }
            sum[col].part[0] += lanes[l].part[0] * w;
            sum[col].part[1] += lanes[l].part[1] * w;
            sum[col].low += w * (w < 0 ? lanes[l].high : lanes[l].low);
            sum[col].high += w * (w < 0 ? lanes[l].low : lanes[l].high);
        }
    }
    if (j->constant)
        note_only(j, lanes, before, sum, from, to);
}

static void convolve(const struct array_job *j, uint32_t x, struct prove_sum *sum)
{
    const struct hd_cmd_array *c = j->c;
    const int64_t at = c->x_start + (int64_t)x * c->x_step;
    const uint32_t split = c->streams == 2 ? c->pair_split : j->n;
    struct lane lanes[MAX_N];

    gather(j, at, lanes);
    multiply(j, lanes, sum, 0, split);
    if (c->streams == 2) {
        gather(j, at + c->pair_step, lanes);
        multiply(j, lanes, sum, split, j->n);
    }
}

static void convolve_depthwise(const struct array_job *j, uint32_t x, struct prove_sum *sum)
{
    const struct hd_cmd_array *c = j->c;
    struct prove *p = j->v->package->p;

    for (uint32_t g = 0; g < j->seg.n_pieces; g++)
        for (uint32_t kx = 0; j->inside[g] && kx < c->kernel_row_bytes; kx++) {
            const uint32_t row = (j->seg.piece[g].lo + kx) * j->n;
            const int64_t pos = (int64_t)x * c->stride_x + kx - c->pad_left;
            const int64_t at = c->x_start + pos * c->x_step;
            const int64_t from = j->source[g] + at + (int64_t)j->tile * j->v->config.columns;

            if (pos < 0 || pos >= (int64_t)c->scan || at < 0 || at >= (int64_t)c->in_wc)
                continue;
            if (from + j->columns > (int64_t)j->v->scratchpad.n) {
                (void)prove_fault(j->v, "channels outside the scratchpad");
                return;
            }
            prove_order_read(j->v, HD_SPACE_SCRATCHPAD, (uint64_t)from, j->columns);
            for (uint32_t i = 0; i < j->columns; i++) {
                const uint32_t t = prove_at(p, &j->v->scratchpad, (uint64_t)from + i);

                if (j->constant)
                    prove_add(&sum[i], p, t, -c->z_in, j->w[row + i]);
                else
                    prove_add_product(&sum[i], p, t, -c->z_in, j->weight[row + i], -c->z_w);
            }
        }
}

/* The results of one position, `count` bytes. */
static int requantise(const struct array_job *j, struct prove_sum *sum, uint64_t at, uint32_t count)
{
    const struct hd_cmd_array *c = j->c;
    struct prove_device *v = j->v;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lane = (c->p_base + j->tile) * j->n + i;
        int32_t number[2] = {0, c->multiplier}, shift = c->shift;

        for (uint32_t k = 0; k < 2; k++)
            if (k == 0 ? c->has_bias : !c->common_scale) {
                const uint8_t *b =
                    prove_parameter(v, k ? HD_SPACE_MULTIPLIER : HD_SPACE_BIAS, lane * 4, 4);
                if (!b)
                    return -1;
                memcpy(&number[k], b, 4);
            }
        if (!c->common_scale) {
            const uint8_t *b = prove_parameter(v, HD_SPACE_SHIFT, lane, 1);
            if (!b)
                return -1;
            shift = (int8_t)*b;
        }
        prove_shift(&sum[i], number[0]);
        const struct prove_scale by = {number[1], shift, c->z_out};
        uint32_t t = c->half   ? prove_half(v->package->p, &sum[i], number[1], shift, c->act_min,
                                            c->act_max, c->half == HALF_LOWER)
                     : c->wide ? prove_wide_byte(v->package->p, &sum[i], &by, c->wide + 1u, at % 4)
                               : prove_requantise(v->package->p, &sum[i], number[1], shift,
                                                  c->z_out, c->act_min, c->act_max);
        if (c->look_up)
            t = prove_look_up(v, c->table_first + (c->table_step ? c->p_base + j->tile : 0), i, t);
        v->scratchpad.term[at + i] = t;
    }
    prove_order_write(v, HD_SPACE_SCRATCHPAD, at, count);
    return v->package->fault ? -1 : 0;
}

static int run_row(struct array_job *j)
{
    const struct hd_cmd_array *c = j->c;
    const uint32_t pixels = c->depthwise ? c->out_w : c->scan;
    const uint64_t out = (uint64_t)c->out_base + (uint64_t)j->tile * j->v->config.columns +
                         (uint64_t)j->block * c->out_block_step + (uint64_t)j->y * c->out_pitch;
    const bool emit = j->last && !c->acc_hold;
    const uint32_t tail = c->streams == 2 ? c->pair_last : c->sum_columns ? 1 : j->columns;

    if (find_rows(j))
        return -1;
    if (emit &&
        out + (uint64_t)(pixels - 1) * c->out_step + (tail > j->columns ? tail : j->columns) >
            j->v->scratchpad.n + j->n)
        return prove_fault(j->v, "an output row outside the scratchpad");
    for (uint32_t x = 0; x < pixels; x++) {
        const uint64_t place = (uint64_t)j->y * pixels + x;
        struct prove_sum sum[MAX_N] = {0};

        if (!(j->first && emit) && place >= j->v->config.acc_depth)
            return prove_fault(j->v, "a block beyond the accumulators");
        if (!j->first && !j->v->summed[place])
            return prove_fault(j->v, "an accumulator that nothing has written");
        if (!j->first)
            memcpy(sum, j->v->sum + place * j->n, j->n * sizeof *sum);
        for (uint32_t i = 0; j->upper && i < j->n; i++)
            prove_times_256(&sum[i]);
        if (c->depthwise)
            convolve_depthwise(j, x, sum);
        else
            convolve(j, x, sum);
        for (uint32_t i = 1; emit && c->sum_columns && i < j->columns; i++) {
            if (sum[i].low != sum[i].high)
                prove_one_more(&sum[0], sum[i].only);
            sum[0].part[0] += sum[i].part[0];
            sum[0].part[1] += sum[i].part[1];
            sum[0].low += sum[i].low;
            sum[0].high += sum[i].high;
        }
        if (!emit) {
            memcpy(j->v->sum + place * j->n, sum, j->n * sizeof *sum);
            j->v->summed[place] = 1;
            continue;
        }
        const uint32_t count = x + 1 < pixels ? j->columns : tail;
        if (out + (uint64_t)x * c->out_step + count > j->v->scratchpad.n)
            return prove_fault(j->v, "an output row outside the scratchpad");
        if (requantise(j, sum, out + (uint64_t)x * c->out_step, count))
            return -1;
    }
    return 0;
}

static int run_block(struct array_job *j, uint32_t word)
{
    const struct hd_cmd_array *c = j->c;
    struct hd_walk walk;

    hd_walk_start(&walk, c->kernel_h, c->kernel_row_bytes, j->v->config.rows, c->ports,
                  c->depthwise);
    while (hd_walk_next(&walk, &j->seg)) {
        prove_order_tile(j->v, j->block + 1 < c->blocks ? c->block_scan : c->last_scan, j->seg.len);
        if (fetch_weights(j, word + j->seg.first_word))
            return -1;
        j->first = j->seg.index == 0 && !c->acc_keep;
        j->upper = j->seg.index == 0 && c->acc_upper;
        j->last = j->seg.last;
        for (j->y = 0; j->y < j->rows; j->y++)
            if (run_row(j))
                return -1;
    }
    return 0;
}

/* The assumptions of a command, as the functional model has them. */
static const char *nonsense(const struct prove_device *v, const struct hd_cmd_array *c)
{
    const uint32_t taps = v->config.rows, n = v->config.columns,
                   pixels = c->depthwise ? c->out_w : c->scan;

    if (!c->out_channels || !c->blocks || !c->last_rows || !pixels || v->config.n > MAX_N ||
        !hd_walk_segments(c->kernel_h, c->kernel_row_bytes, taps, c->ports, c->depthwise))
        return "an empty loop";
    if (c->streams < 1 || c->streams > 2 || c->streams * c->ports > v->config.ports)
        return "more row pieces than read ports";
    if (c->last_scan != (uint32_t)c->scan * c->last_rows ||
        (c->blocks > 1 && c->block_scan != (uint32_t)c->scan * c->block_rows))
        return "block_scan or last_scan is not scan * rows";
    if (c->depthwise && (c->pad_left >= taps || !c->stride_x || c->streams != 1 ||
                         (c->out_w - 1u) * c->stride_x >= c->scan))
        return "depthwise scan, stride_x or pad_left do not fit";
    if ((c->acc_upper || c->half) && (!v->config.lstm || c->half > HALF_LOWER))
        return "halves of int16 need lstm";
    if ((c->acc_upper && !c->acc_keep) || (c->half && (c->wide || c->look_up || c->z_out)))
        return "acc_upper needs acc_keep; half no wide, look_up or z_out";
    if (c->wide && (!v->config.lstm || c->look_up))
        return "results of several bytes need lstm, and no look_up";
    if (c->sum_columns && (!c->depthwise || c->out_w != 1 || c->scan < 2 || c->out_channels != n))
        return "a sum of columns needs depthwise, one output, a channel a column";
    if (c->streams == 2 && (c->out_channels > n || c->pair_split > n || c->pair_last > n))
        return "pixel pairs need a column for each of out_channels";
    return NULL;
}

int prove_array(struct prove_device *v, const struct hd_cmd_array *c)
{
    struct array_job *j = ARENA_NEW(v->package->p->arena, struct array_job);
    const uint32_t kernel = c->kernel_h * c->kernel_row_bytes, columns = v->config.columns;
    const char *why = nonsense(v, c);

    if (why)
        return prove_fault(v, why);
    *j = (struct array_job){.v = v, .c = c, .n = v->config.n};
    for (; j->tile * columns < c->out_channels; j->tile++) {
        const uint32_t left = c->out_channels - j->tile * columns;

        j->columns = left < columns ? left : columns;
        for (j->block = 0; j->block < c->blocks; j->block++) {
            j->rows = j->block + 1 < c->blocks ? c->block_rows : c->last_rows;
            if (run_block(j, c->w_base + j->tile * kernel))
                return -1;
        }
    }
    return 0;
}
