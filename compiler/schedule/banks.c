/* banks.c - see banks.h. */
#include "banks.h"

#include "../../driver/func/hd_walk.h"
#include "geometry.h"

enum { SAMPLES = 16, MAX_BANKS = 32 };

/* Different words that one position reads. */
struct reads {
    uint32_t n, busy; /* banks read, a bit each */
    uint32_t extra;   /* cycles beside the first: words of one bank - 1 */
    uint32_t word[HD_WALK_PORTS * 4];
};

static void add_word(struct reads *r, const struct hd_config *hw, uint32_t word)
{
    uint32_t bank = word & (hw->banks - 1), same = 0;
    for (uint32_t i = 0; i < r->n && r->busy >> bank & 1u; i++) {
        if (r->word[i] == word)
            return;
        same += (r->word[i] & (hw->banks - 1)) == bank;
    }
    r->word[r->n++] = word;
    r->busy |= 1u << bank;
    r->extra = same > r->extra ? same : r->extra;
}

/* Lanes lo .. hi-1 from byte `at` (of lane 0). */
static void add_port(struct reads *r, const struct hd_config *hw, int64_t at, uint32_t lo,
                     uint32_t hi)
{
    uint32_t log2_n = (uint32_t)__builtin_ctz(hw->n), mask = hw->scratchpad_bytes - 1;
    uint32_t word = ((uint32_t)at & mask) >> log2_n, offset = (uint32_t)at & (hw->n - 1);
    mask >>= log2_n;
    if (offset + lo < hw->n)
        add_word(r, hw, word);
    if (offset + hi > hw->n)
        add_word(r, hw, (word + 1) & mask);
}

/* The lanes of piece `k` from column byte x on, as far as they lie inside the row; `row`: address
 * of its first byte. */
static void add_piece(struct reads *r, const struct hd_config *hw, const struct hd_cmd_array *a,
                      const struct hd_piece *k, int64_t row, int64_t x)
{
    int64_t at = x + k->of - k->lo, lo = k->lo, hi = k->hi;
    lo = lo > -at ? lo : -at;
    hi = hi < (int64_t)a->in_wc - at ? hi : (int64_t)a->in_wc - at;
    if (lo < hi)
        add_port(r, hw, row + at, (uint32_t)lo, (uint32_t)hi);
}

/* What position j of output row y reads in segment `s`. */
static void read_position(const struct hd_cmd_array *a, const struct hd_config *hw,
                          const struct hd_segment *s, uint32_t y, uint32_t j, struct reads *r)
{
    uint32_t nch = a->out_channels < hw->n ? a->out_channels : hw->n;
    int64_t x = a->x_start + (int64_t)j * a->x_step;
    r->n = r->busy = r->extra = 0;
    for (uint32_t g = 0; g < s->n_pieces; g++) {
        const struct hd_piece *k = &s->piece[g];
        int64_t row = a->in_row + (int64_t)y * a->in_pitch_step + (int64_t)k->ky * a->in_pitch_dil;
        int64_t image = a->y_start + (int64_t)y * a->stride_y + (int64_t)k->ky * a->dilation_y;
        if (image < 0 || image >= a->in_h)
            continue;
        if (a->depthwise && x < a->in_wc)
            add_port(r, hw, row + x, 0, nch);
        if (a->depthwise)
            continue;
        add_piece(r, hw, a, k, row, x);
        if (a->streams == 2)
            add_piece(r, hw, a, k, row, x + a->pair_step);
    }
}

static bool is_pair(const struct hd_cmd_vector *v)
{
    return v->op == HD_VOP_ADD || v->op == HD_VOP_SUB || v->op == HD_VOP_MUL;
}

/* A row that lies inside the image, if there is one. */
static uint32_t middle(const struct hd_cmd_array *a)
{
    return a->out_h / 2u;
}

uint64_t banks_conflicts(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    struct hd_walk walk;
    struct hd_segment s;
    struct reads r;
    uint64_t extra = 0;
    uint32_t n = a->scan < SAMPLES ? a->scan : SAMPLES;
    if (hw->banks > MAX_BANKS || (a->ports < 2 && a->streams < 2))
        return 0;
    hd_walk_start(&walk, a->kernel_h, a->kernel_row_bytes, hw->n, a->ports, a->depthwise);
    while (hd_walk_next(&walk, &s)) {
        uint64_t found = 0;
        for (uint32_t i = 0; i < n && (s.n_pieces > 1 || a->streams == 2); i++) {
            read_position(a, hw, &s, middle(a), (uint32_t)((uint64_t)i * a->scan / n), &r);
            found += r.extra;
        }
        extra += found * a->scan * a->out_h / n;
    }
    return extra * div_up(a->out_channels, hw->n);
}

/* ARRAY's steps in the order of its loops: channel tile, block, segment, row, scan position. A tile
 * may have more steps than positions. */
struct steps {
    struct hd_cmd_array a; /* in_row and x_start of this channel tile */
    const struct hd_config *hw;
    struct hd_walk walk;
    struct hd_segment s;
    uint32_t block, first_row, y, j; /* position; rows of the block from first_row on */
    uint32_t rows, step, n_steps;
};

static void begin_tile(struct steps *t)
{
    const struct hd_cmd_array *a = &t->a;
    uint32_t least = t->s.len > 4 ? t->s.len : 4;
    t->rows = t->block + 1u == a->blocks ? a->last_rows : a->block_rows;
    t->n_steps = t->rows * a->scan > least ? t->rows * a->scan : least;
    t->y = t->first_row;
    t->j = t->step = 0;
}

static void begin_block(struct steps *t)
{
    const struct hd_cmd_array *a = &t->a;
    hd_walk_start(&t->walk, a->kernel_h, a->kernel_row_bytes, t->hw->n, a->ports, a->depthwise);
    (void)hd_walk_next(&t->walk, &t->s);
    begin_tile(t);
}

static void steps_start(struct steps *t, const struct hd_cmd_array *a, const struct hd_config *hw)
{
    *t = (struct steps){.a = *a, .hw = hw};
    begin_block(t);
}

/* What the step reads; then the next one. */
static void steps_next(struct steps *t, struct reads *r)
{
    r->n = r->busy = r->extra = 0;
    if (t->y < t->first_row + t->rows) {
        read_position(&t->a, t->hw, &t->s, t->y, t->j, r);
        if (++t->j == t->a.scan) {
            t->j = 0;
            t->y++;
        }
    }
    if (++t->step < t->n_steps)
        return;
    if (hd_walk_next(&t->walk, &t->s)) {
        begin_tile(t);
        return;
    }
    t->first_row += t->rows;
    if (++t->block == t->a.blocks) {
        t->block = t->first_row = 0;
        if (t->a.depthwise)
            t->a.in_row += (int32_t)t->hw->n;
    }
    begin_block(t);
}

uint32_t banks_left(const struct hd_cmd_array *a, const struct hd_config *hw)
{
    struct steps t;
    struct reads r;
    uint32_t word = 0, words = 0;
    if (hw->banks > MAX_BANKS)
        return BANKS_CYCLES;
    steps_start(&t, a, hw);
    for (uint32_t i = 0; i < BANKS_CYCLES; i++) {
        steps_next(&t, &r);
        if (!(r.busy >> word % hw->banks & 1u)) {
            word++;
            words++;
        }
    }
    return words ? words : 1;
}

/* Does VECTOR's read of a word at byte `at` go beside reads of the banks in *busy? */
static bool grant(const struct hd_config *hw, int64_t at, uint32_t *busy)
{
    struct reads r;
    r.n = r.busy = r.extra = 0;
    add_port(&r, hw, at, 0, hw->n);
    if (r.busy & *busy)
        return false;
    *busy |= r.busy;
    return true;
}

uint32_t banks_beats(const struct hd_cmd_array *a, const struct hd_cmd_vector *v,
                     const struct hd_config *hw)
{
    struct steps t;
    struct reads r;
    uint32_t beats = 0, per_row = v->cols * div_up(v->channels, hw->n);
    bool second = is_pair(v), got_a = false, got_b = !second;
    if (hw->banks > MAX_BANKS)
        return BANKS_CYCLES;
    steps_start(&t, a, hw);
    for (uint32_t i = 0; i < BANKS_CYCLES; i++) {
        steps_next(&t, &r);
        uint32_t busy = r.busy;
        int64_t row = beats / per_row % v->rows, of = (int64_t)(beats % per_row) * hw->n;
        got_a = got_a || grant(hw, v->a_base + row * v->a_row + of, &busy);
        got_b = got_b || grant(hw, v->b_base + row * v->b_row + of, &busy);
        if (got_a && got_b) {
            beats++;
            got_a = false;
            got_b = !second;
        }
    }
    return beats ? beats : 1;
}

/* Do n bytes from a and n from b want different words of one bank? */
static bool collide(const struct hd_config *hw, int64_t a, int64_t b, uint32_t n)
{
    struct reads r;
    r.n = r.busy = r.extra = 0;
    add_port(&r, hw, a, 0, n);
    add_port(&r, hw, b, 0, n);
    return r.extra > 0;
}

uint64_t banks_vector_conflicts(const struct hd_cmd_vector *v, const struct hd_config *hw)
{
    uint32_t chunks = div_up(v->channels, hw->n), beats = v->cols * chunks, found = 0;
    uint32_t rows = v->rows < SAMPLES ? v->rows : SAMPLES, n = beats < SAMPLES ? beats : SAMPLES;
    if (!is_pair(v) || hw->banks > MAX_BANKS || beats == 0)
        return 0;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t beat = (uint32_t)((uint64_t)i * beats / n), x = beat / chunks,
                     c = beat % chunks * hw->n;
            uint32_t bytes = v->channels - c < hw->n ? v->channels - c : hw->n;
            int64_t a = v->a_base + (int64_t)y * v->a_row + (int64_t)x * v->a_col + c,
                    b = v->b_base + (int64_t)y * v->b_row + (int64_t)x * v->b_col + c;
            found += collide(hw, a, b, bytes);
        }
    return (uint64_t)found * v->rows * beats / ((uint64_t)rows * n);
}

uint32_t banks_lost(const struct hd_cmd_array *a, const struct hd_config *hw, uint64_t cycles)
{
    uint64_t results = (uint64_t)a->out_h * a->out_w * div_up(a->out_channels, hw->n);
    if (a->acc_hold || cycles == 0)
        return 0;
    uint32_t words = a->out_step % hw->n ? 5 : 4; /* quarters: some lie across two words */
    return (uint32_t)(results * 256 * words / (4 * (uint64_t)hw->banks * cycles));
}
