/* actions.c - see actions.h. The loop nests are those of docs/HARDWARE.md. */
#include "actions.h"

#include "driver/hd_walk.h"
#include "hd_accel_tables.h"

const char *const action_names[ACTION_COUNT] = {"mac",
                                                "vector_op",
                                                "requantise",
                                                "scratchpad_read",
                                                "scratchpad_written",
                                                "weight_read",
                                                "weight_written",
                                                "accumulator_read",
                                                "accumulator_written",
                                                "bus_read",
                                                "bus_written"};

uint64_t actions_beats(uint64_t at, uint64_t n_bytes, uint64_t width)
{
    if (n_bytes == 0)
        return 0;
    return (at + n_bytes - 1) / width * width - at / width * width + width;
}

/* Return the bytes of the beats of a run. Regions begin at multiples of 64 bytes, so offsets
 * determine the beats. */
static uint64_t run_bytes(uint64_t at, uint32_t runs, uint32_t n, uint32_t pitch, uint64_t width)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < runs; i++, at += pitch)
        sum += actions_beats(at, n, width);
    return sum;
}

static void read_memory(struct actions *to, const struct hd_cmd_dma_read *c, uint32_t unit,
                        uint64_t width)
{
    if (c->spad) {
        to->n[ACTION_SCRATCHPAD_READ] += (uint64_t)c->runs * c->run_bytes;
        to->n[ACTION_WEIGHT_WRITTEN] += (uint64_t)c->runs * c->run_bytes;
        return;
    }
    to->n[ACTION_BUS_READ] += run_bytes(c->offset, c->runs, c->run_bytes, c->run_pitch, width);
    to->n[unit == HD_UNIT_LOAD ? ACTION_SCRATCHPAD_WRITTEN : ACTION_WEIGHT_WRITTEN] +=
        (uint64_t)c->rows * c->row_bytes;
}

static void store(struct actions *to, const struct hd_cmd_store *c, uint64_t width)
{
    to->n[ACTION_BUS_WRITTEN] += run_bytes(c->offset, c->runs, c->run_bytes, c->run_pitch, width);
    to->n[ACTION_SCRATCHPAD_READ] += (uint64_t)c->rows * c->row_bytes;
}

/* Return how many numbers of [from, to) are in [0, end). */
static uint64_t inside(int64_t from, int64_t to, int64_t end)
{
    from = from > 0 ? from : 0;
    to = to < end ? to : end;
    return to > from ? (uint64_t)(to - from) : 0;
}

/* Return the output rows of the command whose kernel row ky is in the image. */
static uint64_t rows_inside(const struct hd_cmd_array *c, uint32_t ky)
{
    uint64_t n = 0;

    for (int64_t y = 0; y < c->out_h; y++)
        n += inside(c->y_start + y * c->stride_y + (int64_t)ky * c->dilation_y,
                    c->y_start + y * c->stride_y + (int64_t)ky * c->dilation_y + 1, c->in_h);
    return n;
}

/* Return the bytes of a piece that one row's scan reads; for a depthwise piece, per channel. */
static uint64_t scan_bytes(const struct hd_cmd_array *c, const struct hd_piece *piece)
{
    uint64_t n = 0;

    for (int64_t x = 0; x < c->scan; x++) {
        const int64_t at = c->x_start + x * c->x_step;
        const int64_t first = at + piece->of, len = piece->hi - piece->lo;

        if (c->depthwise)
            n += inside(at, at + 1, c->in_wc);
        else
            n += inside(first, first + len, c->in_wc);
        if (c->streams == 2)
            n += inside(first + c->pair_step, first + c->pair_step + len, c->in_wc);
    }
    return n;
}

static uint64_t segment_bytes(const struct hd_cmd_array *c, const struct hd_segment *seg)
{
    uint64_t n = 0;

    for (uint32_t g = 0; g < seg->n_pieces; g++)
        n += rows_inside(c, seg->piece[g].ky) * scan_bytes(c, &seg->piece[g]);
    return n;
}

/* Return the output vectors. With two pixel streams a vector has two pixels, except the last of a
 * row, which may have one. */
static uint64_t array_outputs(const struct hd_cmd_array *c)
{
    const uint64_t row = c->streams == 2 ? (c->scan - (uint64_t)1) * c->out_channels + c->pair_last
                                         : (uint64_t)c->out_w * c->out_channels;

    return row * c->out_h;
}

static void array(struct actions *to, const struct hd_cmd_array *c, const struct hd_config *hw)
{
    const uint32_t n = hw->columns;
    const uint64_t tiles = div_up(c->out_channels, n),
                   vectors = (uint64_t)c->out_h * (c->depthwise ? c->out_w : c->scan);
    const uint64_t outputs = array_outputs(c);
    uint64_t bytes = 0, segments = 0;
    struct hd_walk walk;
    struct hd_segment seg;

    hd_walk_start(&walk, c->kernel_h, c->kernel_row_bytes, hw->rows, c->ports, c->depthwise);
    for (; hd_walk_next(&walk, &seg); segments++)
        bytes += segment_bytes(c, &seg);
    to->n[ACTION_MAC] += outputs * c->kernel_h * c->kernel_row_bytes;
    to->n[ACTION_SCRATCHPAD_READ] += bytes * (c->depthwise ? c->out_channels : tiles);
    to->n[ACTION_WEIGHT_READ] += tiles * c->blocks * c->kernel_h * c->kernel_row_bytes * n;
    to->n[ACTION_ACCUMULATOR_READ] += tiles * vectors * n * (segments - 1 + c->acc_keep);
    to->n[ACTION_ACCUMULATOR_WRITTEN] += tiles * vectors * n * (segments - 1 + c->acc_hold);
    if (c->acc_hold)
        return;
    to->n[ACTION_REQUANTISE] += c->sum_columns ? vectors : outputs;
    to->n[ACTION_SCRATCHPAD_WRITTEN] += c->sum_columns ? vectors : outputs;
}

/* Return the window cells in the image, summed over the outputs of one dimension. */
static uint64_t cells(uint32_t outputs, int32_t start, uint32_t stride, uint32_t kernel,
                      uint32_t size)
{
    uint64_t n = 0;

    for (int64_t i = 0; i < outputs; i++)
        n += inside(start + i * stride, start + i * stride + kernel, size);
    return n;
}

/* Return the bytes of an operand. A splat byte is read once for N channels. */
static uint64_t operand_bytes(const struct hd_cmd_vector *c, bool splat, uint32_t n)
{
    return splat ? div_up(c->channels, n) : c->channels;
}

static void vector(struct actions *to, const struct hd_cmd_vector *c, uint32_t n)
{
    const struct hd_vop_facts *op = &hd_vop_facts[c->op];
    const uint64_t positions = (uint64_t)c->rows * c->cols,
                   outputs = positions * (op->lstm ? 1 : c->channels);
    const uint64_t read = cells(c->rows, c->y_start, c->stride_y, c->kernel_h, c->in_h) *
                          cells(c->cols, c->x_start, c->stride_x, c->kernel_w, c->in_w);

    to->n[ACTION_VECTOR_OP] += op->passes * read * c->channels;
    to->n[ACTION_SCRATCHPAD_READ] += op->passes * read * operand_bytes(c, c->a_splat, n);
    if (op->operands == 2)
        to->n[ACTION_SCRATCHPAD_READ] +=
            positions * (op->lstm ? 2 : operand_bytes(c, c->b_splat, n));
    if (op->pair)
        to->n[ACTION_SCRATCHPAD_READ] += read * c->channels;
    to->n[ACTION_SCRATCHPAD_WRITTEN] += op->lstm ? 3 * outputs : outputs; /* state and output */
    if (op->rescale)
        to->n[ACTION_REQUANTISE] += outputs;
    if (c->look_up)
        to->n[ACTION_WEIGHT_READ] += outputs;
    if (op->softmax) /* in two passes an exponential of 4 bytes each */
        to->n[ACTION_WEIGHT_READ] += 8 * outputs;
}

struct actions actions_of_command(const struct sched_command *c, const struct hd_config *hw)
{
    struct actions a = {{0}};

    switch (c->unit) {
    case HD_UNIT_LOAD:
    case HD_UNIT_WEIGHT: read_memory(&a, &c->w.dma_read, c->unit, hw->axi_bytes); break;
    case HD_UNIT_STORE: store(&a, &c->w.store, hw->axi_bytes); break;
    case HD_UNIT_ARRAY: array(&a, &c->w.array, hw); break;
    case HD_UNIT_VECTOR: vector(&a, &c->w.vector, hw->n); break;
    default: break;
    }
    return a;
}

/* Add the words of a stream. A command's words count for its layer; header, END and padding to
 * whole beats count for the first layer. */
static void add_stream(struct actions *row, const struct sched_stream *s,
                       const struct hd_config *hw)
{
    uint64_t left = actions_beats(s->offset, s->n_bytes, hw->axi_bytes);

    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_command *c = &s->cmd[i];
        const struct actions one = actions_of_command(c, hw);
        const uint64_t own = (uint64_t)c->w.common.length * HD_COMMAND_ALIGN;

        if (c->unit == HD_UNIT_FETCH)
            break;
        for (uint32_t k = 0; k < ACTION_COUNT; k++)
            row[c->row].n[k] += one.n[k];
        row[c->row].n[ACTION_BUS_READ] += own;
        left -= own;
    }
    row[s->cmd[0].row].n[ACTION_BUS_READ] += left;
}

struct actions *actions_of(struct arena *a, const struct sched_program *p, uint32_t n_row)
{
    struct actions *row = ARENA_ARRAY(a, struct actions, n_row + 1);

    for (uint32_t k = 0; k < p->n_stream; k++)
        add_stream(row, &p->stream[k], p->device[p->stream[k].device].hw);
    return row;
}
