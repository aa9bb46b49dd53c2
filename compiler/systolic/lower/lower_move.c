/* lower_move.c - commands that move tensors between memory and scratchpad. */
#include "lower.h"

/* Bursts of STORE that may await their responses (hd_axi_write); each row of a part is a burst. */
enum { STORE_BURSTS = 16 };

/* Restrict the last added access to `bytes` of every `pitch` bytes; gaps: not even all of these. */
static void only(struct sched_command *c, uint32_t bytes, uint32_t pitch, bool gaps)
{
    struct sched_access *a = &c->access[c->n_access - 1];

    a->pitch = pitch;
    a->bytes = bytes;
    a->gaps = gaps;
}

struct op_plan lower_strip(const struct op_plan *p, uint32_t i)
{
    struct op_plan s = *p;

    strip_at(&p->geo, &p->cut, i, &s.geo);
    if (p->n_strip > 1) { /* none has a prologue */
        s.n_tiles = div_up(s.geo.oh, p->tile_rows);
        s.before = i * p->n_tiles;
        for (uint32_t k = 0; k < p->n_in; k++)
            if (p->in[k].streamed)
                s.in[k].pixel = s.geo.box[k].channels;
        if (p->out.streamed)
            s.out.pixel = s.geo.box[GEO_RESULT].channels;
    }
    s.last = i + 1 == p->n_strip;
    return s;
}

/* Layout of a tensor's rows in memory. */
struct runs {
    uint32_t rows; /* rows that one command moves */
    uint32_t runs, run_bytes, run_pitch;
};

/* Return the most of `rows` rows, every `skip`-th of the tensor's, that one command can move. */
static struct runs runs_of(const struct sched_place *s, uint32_t rows, uint32_t skip)
{
    uint32_t pitch = s->mem_pitch * skip, bytes = s->row_bytes / s->cols;

    if (rows == 1 || pitch == s->row_bytes)
        pitch = s->row_bytes;
    if (s->cols == 1 || s->mem_pixel == bytes) {
        if (pitch == s->row_bytes)
            return (struct runs){rows, 1, rows * s->row_bytes, rows * s->row_bytes};
        return (struct runs){rows, rows, s->row_bytes, pitch};
    }
    uint32_t most = s->mem_pitch * skip == s->cols * s->mem_pixel ? UINT16_MAX / s->cols : 1;
    rows = rows < most ? rows : most;
    return (struct runs){rows, rows * s->cols, bytes, s->mem_pixel};
}

/* Record that the command reads or writes these runs of memory from `offset` on. */
static void memory_access(struct sched_command *c, const struct sched_program *p,
                          const struct sched_place *s, bool write, uint64_t offset,
                          const struct runs *r)
{
    uint64_t index = s->mem_region >= HD_REGION_IO ? s->mem_region - HD_REGION_IO : 0;
    uint64_t n = (uint64_t)(r->runs - 1) * r->run_pitch + r->run_bytes;
    bool known = s->window == 0;

    if (!known) {
        offset = s->whole;
        n = s->mem_bytes;
    }
    if (s->mem_region == HD_REGION_ARENA)
        lower_access(c, SCHED_ARENA, write, offset, n);
    else if (s->mem_region >= HD_REGION_IO)
        lower_access(c, index < p->graph->n_in ? SCHED_INPUT : SCHED_OUTPUT, write,
                     (index << 32) + offset, n);
    else
        return;
    if (!known)
        c->access[c->n_access - 1].gaps = true;
    else if (r->runs > 1)
        only(c, r->run_bytes, r->run_pitch, false);
}

static uint32_t region_of(const struct sched_place *s)
{
    return s->window ? s->window : s->mem_region;
}

/* Load every skip-th of the rows [lo, hi) of a tensor from memory to scratchpad address `to`, with
 * rows `pitch` apart; shared: bytes between them may belong to another tensor. */
static void load_rows(struct lower *l, uint32_t row, const struct sched_place *s, uint32_t lo,
                      uint32_t hi, uint32_t skip, uint32_t to, uint32_t pitch, bool shared)
{
    const uint32_t value = sched_value_bytes(s);

    if (s->quantised)
        lower_thresholds(l, row, s->quantised);
    while (lo < hi) {
        const struct runs r = runs_of(s, div_up(hi - lo, skip), skip);
        struct sched_command *c =
            lower_add(l, HD_UNIT_LOAD, HD_OPCODE_LOAD, HD_CMD_DMA_READ_UNITS, row);
        struct hd_cmd_dma_read *m = &c->w.dma_read;
        uint32_t bytes = r.rows * s->row_bytes;
        bool flat = pitch == s->row_bytes; /* contiguous rows are one row */
        m->region = region_of(s) & 15u;
        m->space = HD_SPACE_SCRATCHPAD;
        m->flip = s->flip;
        m->quantise = s->quantised != NULL;
        m->offset = (s->mem_offset + lo * s->mem_pitch) * value;
        m->runs = r.runs & 0xffffu;
        m->run_bytes = r.run_bytes * value;
        m->run_pitch = r.run_pitch * value;
        m->rows = flat ? 1 : r.rows & 0xffffu;
        m->row_bytes = flat ? bytes : s->row_bytes;
        m->dest = to / l->hw->n;
        m->dest_pitch = flat ? div_up(bytes, l->hw->n) : pitch / l->hw->n;
        c->note = lower_note(l, "rows %u-%u in", lo,
                             lo + r.rows * skip < hi ? lo + r.rows * skip - 1 : hi - 1);
        memory_access(c, l->program, s, false, m->offset,
                      &(struct runs){r.rows, r.runs, m->run_bytes, m->run_pitch});
        if (s->quantised)
            lower_access(c, SCHED_TABLE, false, SCHED_THRESHOLDS, 1);
        to += r.rows * pitch;
        lo += r.rows * skip;
        /* up to the next row, if there is one, so that no gap is left between two commands' rows */
        uint64_t n = (uint64_t)r.rows * pitch - (lo < hi ? 0 : pitch - s->row_bytes);
        if (shared)
            n = (uint64_t)(r.rows - 1) * pitch + s->row_bytes;
        lower_access(c, SCHED_SPAD, true, to - (uint64_t)r.rows * pitch, n);
        if (shared && r.rows > 1 && pitch != s->row_bytes)
            only(c, s->row_bytes, pitch, false);
    }
}

/* Store rows [y, y + rows) of a tensor from scratchpad address `from`, with rows `pitch` apart, to
 * memory. part: only some channels of each row; others may be written later. */
static void store_rows(struct lower *l, uint32_t row, const struct sched_place *s, uint32_t y,
                       uint32_t rows, uint32_t from, uint32_t pitch, bool part)
{
    const uint32_t value = sched_value_bytes(s);

    if (s->quantised)
        lower_floats(l, row, s->quantised);
    while (rows > 0) {
        const struct runs r = runs_of(s, rows, 1);
        struct sched_command *c =
            lower_add(l, HD_UNIT_STORE, HD_OPCODE_STORE, HD_CMD_STORE_UNITS, row);
        struct hd_cmd_store *m = &c->w.store;
        uint32_t bytes = r.rows * s->row_bytes;
        bool flat = pitch == s->row_bytes;
        m->region = region_of(s) & 15u;
        m->flip = s->flip;
        m->dequantise = s->quantised != NULL;
        m->offset = (s->mem_offset + y * s->mem_pitch) * value;
        m->runs = r.runs & 0xffffu;
        m->run_bytes = r.run_bytes * value;
        m->run_pitch = r.run_pitch * value;
        m->rows = flat ? 1 : r.rows & 0xffffu;
        m->row_bytes = flat ? bytes : s->row_bytes;
        m->src = from / l->hw->n;
        m->src_pitch = flat ? div_up(bytes, l->hw->n) : pitch / l->hw->n;
        c->note = lower_note(l, "rows %u-%u out", y, y + r.rows - 1);
        lower_access(c, SCHED_SPAD, false, from, (uint64_t)(r.rows - 1) * pitch + s->row_bytes);
        if (part)
            only(c, s->row_bytes, pitch, false);
        memory_access(c, l->program, s, true, m->offset,
                      &(struct runs){r.rows, r.runs, m->run_bytes, m->run_pitch});
        if (s->quantised)
            lower_access(c, SCHED_TABLE, false, SCHED_FLOATS, 1);
        from += r.rows * pitch;
        y += r.rows;
        rows -= r.rows;
    }
}

/* Return the place of box i of the operator as a separate tensor; `s`: its tensor's place. */
static struct sched_place box_of(const struct lower *l, const struct op_plan *p, uint32_t i,
                                 struct sched_place s)
{
    const struct geo *g = &p->geo;
    const struct geo_box *b = &g->box[i];

    if (g->kind == GEO_DENSE)
        s.pixel = s.mem_pixel = i == GEO_RESULT ? g->all_oc : g->all_c;
    else if (g->flat)
        s.pixel = s.mem_pixel = 1;
    geo_place_matrices(g, i == GEO_RESULT ? g->out : geo_operand(g, i), &s);
    if (geo_starts(g, i))
        geo_start_place(l->graph, g, &s);
    s.base += b->row * s.pitch + b->col * s.pixel + b->channel;
    s.mem_offset += b->row * s.mem_pitch + b->col * s.mem_pixel + b->channel;
    s.cols = b->cols;
    s.row_bytes = b->cols * b->channels;
    return s;
}

static struct sched_place place_of(const struct lower *l, const struct op_plan *p, uint32_t i)
{
    const struct ir_tensor *t = i == GEO_RESULT ? p->geo.out : geo_operand(&p->geo, i);

    return box_of(l, p, i, l->program->place[t->id]);
}

/* Return true if an operator of this program writes the tensor. The value of a variable exists
 * before. */
static bool made_here(const struct lower *l, const struct ir_tensor *t)
{
    return t->producer != IR_NONE &&
           l->program->place[t->id].mem_region != sched_state_region(l->graph) &&
           sched_owns(l->program, l->graph->op[t->producer]);
}

/* For a resident tensor that comes from memory, load the rows up to `hi` that are not loaded yet.
 * If tensors share bytes, only the root is in memory. */
static void load_resident(struct lower *l, const struct op_plan *p, const struct ir_tensor *t,
                          uint32_t hi)
{
    const struct sched_view *v = &l->program->view[t->id];
    const struct sched_place *s = &l->program->place[v->root];
    uint32_t *have = &l->loaded[v->root];
    bool aligned = s->pitch % l->hw->n == 0;

    if (!s->in_memory || made_here(l, l->graph->tensor[v->root]))
        return;
    if (v->root != t->id)
        hi = v->pitch || v->swapped ? s->h : (uint32_t)v->y + (hi - 1) * v->step_y + 1;
    if (*have >= hi)
        return;
    uint32_t upto = aligned ? hi : s->h;
    load_rows(l, p->op->row, s, *have, upto, 1, s->base + *have * s->pitch, s->pitch, false);
    *have = upto;
}

/* Return the rows of the operand's image, from its first, that rows up to `hi` of the box need. */
static uint32_t image_rows(const struct geo *g, uint32_t i, uint32_t hi)
{
    const struct ir_tensor *t = geo_operand(g, i);
    const struct geo_box *b = &g->box[i];

    if (geo_rows_of_matrix(g, t))
        return (b->row + hi - 1) * (uint32_t)ir_dim_back(t, 1) + b->col + b->cols;
    return b->row + hi;
}

void lower_operand(struct lower *l, const struct op_plan *p, uint32_t i, uint32_t tile, uint32_t lo,
                   uint32_t hi, int32_t *base)
{
    const struct ir_tensor *t = geo_operand(&p->geo, i);
    const struct sched_place s = place_of(l, p, i);

    if (l->layout->line_buffer[t->id].wrap) {
        const struct plan_line_buffer *r = &l->layout->line_buffer[t->id];
        *base = line_buffer_row0(r, line_buffer_read(r, lo, hi, l->made[t->id]));
        return;
    }
    if (!p->in[i].streamed) {
        load_resident(l, p, t, p->geo.kind == GEO_DENSE ? s.h : image_rows(&p->geo, i, hi));
        *base = (int32_t)s.base;
        return;
    }
    /* Each tile of a TRANSPOSE that exchanges rows reads all that its strip reads. */
    const bool once = p->geo.kind == GEO_PERMUTE && !geo_keeps_rows(&p->geo);
    const uint32_t turn = once ? p->before / p->n_tiles : p->before + tile;
    const uint32_t buf = p->in[i].buf[p->in[i].rare ? 0 : turn % p->n_buffer];
    const uint32_t first = l->stream->n;
    if (layout_buffers(p, i) && (!once || tile == 0))
        load_rows(l, p->op->row, &s, lo, hi, p->in[i].skip, buf, p->in[i].pitch, false);
    for (uint32_t k = first; k < l->stream->n; k++)
        l->stream->cmd[k].early = s.quantised != NULL && l->stream->cmd[k].unit == HD_UNIT_LOAD;
    *base = (int32_t)buf - (int32_t)(lo / p->in[i].skip * p->in[i].pitch);
}

int32_t lower_result(const struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y)
{
    const struct plan_line_buffer *line_buffer = &l->layout->line_buffer[p->geo.out->id];

    if (line_buffer->wrap)
        return line_buffer_row0(line_buffer, line_buffer_wrap(line_buffer, y)) +
               (int32_t)(y * line_buffer->pitch);
    if (p->out.streamed)
        return (int32_t)p->out.buf[p->out.rare ? 0 : (p->before + tile) % p->n_buffer];
    const struct sched_place s = place_of(l, p, GEO_RESULT);
    return (int32_t)(s.base + y * s.pitch);
}

/* Record the scratchpad bytes of `rows` rows of box i from `begin` on. Gaps that belong to another
 * tensor do not count. */
static void access_rows(struct lower *l, struct sched_command *c, const struct op_plan *p,
                        uint32_t i, uint64_t begin, uint32_t rows)
{
    const struct geo_box *b = &p->geo.box[i];
    const struct plan_stream *at = i == GEO_RESULT ? &p->out : &p->in[i];
    const struct ir_tensor *t = i == GEO_RESULT ? p->geo.out : geo_operand(&p->geo, i);
    const struct sched_view *v = &l->program->view[t->id], *root = &l->program->view[v->root];
    const bool rows_of_matrix = p->geo.kind == GEO_PRODUCT || p->geo.kind == GEO_DENSE;
    uint32_t bytes = b->channels, pixel = at->streamed     ? bytes
                                          : rows_of_matrix ? at->pixel
                                                           : l->program->place[t->id].pixel;
    uint32_t span = (b->cols - 1) * pixel + bytes;
    bool own = at->streamed || (p->geo.kind != GEO_PRODUCT && root->n == bytes &&
                                root->w == b->cols && v->step_y == 1),
         dense = b->cols == 1 || pixel == bytes;

    lower_access(c, SCHED_SPAD, i == GEO_RESULT, begin, (uint64_t)(rows - 1) * at->pitch + span);
    if (own || v->pixel || (dense && rows == 1))
        return;
    if (dense)
        only(c, span, at->pitch, false);
    else if (rows == 1 || (root->w == b->cols && at->pitch % pixel == 0))
        only(c, bytes, pixel, false);
    else
        only(c, span, at->pitch, true);
}

void lower_access_in(struct lower *l, struct sched_command *c, const struct op_plan *p, uint32_t i,
                     int32_t base, uint32_t lo, uint32_t hi)
{
    uint32_t pitch = p->in[i].pitch, skip = p->in[i].skip;

    access_rows(l, c, p, i, (uint64_t)((int64_t)base + (int64_t)(lo / skip) * pitch),
                div_up(hi - lo, skip));
}

/* Describe rows, pixels and channels, spaced by `pitch` and `pixel` from `address` on, as the part
 * `image` of the tensor in its own order. */
static struct sched_made made_at(const struct lower *l, const struct op_plan *p, uint32_t address,
                                 uint32_t pitch, uint32_t pixel, const struct sched_place *image)
{
    const struct ir_tensor *t = p->look_up ? ir_out(l->graph, p->look_up, 0) : p->geo.out;
    struct sched_made m = {.tensor = t->id, .address = address, .first = image->mem_offset};
    const bool transposed = pixel > pitch; /* the rows are the image's columns */

    if (l->program->dry || t->type != IR_I8 || t->role != IR_VALUE)
        return (struct sched_made){0};
    m.pitch = transposed ? pixel : pitch;
    m.pixel = transposed ? pitch : pixel;
    m.row = transposed ? image->mem_pixel : image->mem_pitch;
    m.column = transposed ? image->mem_pitch : image->mem_pixel;
    return m;
}

/* Return the place of the result's bytes in their own order, contiguous. */
static struct sched_place own_order(const struct op_plan *p)
{
    uint32_t h, w, c;

    geo_image(p->geo.out, &h, &w, &c);
    return (struct sched_place){.mem_pitch = w * c, .mem_pixel = c};
}

/* Record that commands from `first` on store parts of the result. */
static void stored(struct lower *l, const struct op_plan *p, uint32_t first)
{
    const struct sched_place *s = &l->program->place[p->geo.out->id], own = own_order(p);

    for (uint32_t i = first; i < l->stream->n && s->window == 0 && !s->quantised; i++) {
        l->stream->cmd[i].made = made_at(l, p, s->mem_offset, s->mem_pitch, s->mem_pixel, &own);
        l->stream->cmd[i].made.flip = s->flip;
    }
}

void lower_access_out(struct lower *l, struct sched_command *c, const struct op_plan *p,
                      uint32_t tile, uint32_t y, uint32_t rows)
{
    const uint32_t address = (uint32_t)lower_result(l, p, tile, y),
                   n = geo_result_rows(&p->geo, rows);
    struct sched_place image = box_of(l, p, GEO_RESULT, own_order(p));

    image.mem_offset += y * image.mem_pitch;
    c->made = made_at(l, p, address, n > 1 ? p->out.pitch : UINT32_MAX, p->out.pixel, &image);
    access_rows(l, c, p, GEO_RESULT, address, n);
}

/* Return true if a result on chip is stored at the end because no command can store its rows
 * earlier: they start inside words, or other strips of them follow. */
static bool stored_whole(const struct lower *l, const struct op_plan *p)
{
    return l->program->place[p->geo.out->id].pitch % l->hw->n != 0 || p->n_strip > 1 ||
           p->geo.kind == GEO_DENSE || p->geo.kind == GEO_PRODUCT;
}

static void store_resident(struct lower *l, const struct op_plan *p, uint32_t y, uint32_t rows,
                           bool last)
{
    const struct sched_place *s = &l->program->place[p->geo.out->id];
    const bool whole = stored_whole(l, p);

    if (whole && last)
        store_rows(l, p->op->row, s, 0, s->h, s->base, s->pitch, false);
    else if (!whole)
        store_rows(l, p->op->row, s, y, rows, s->base + y * s->pitch, s->pitch, false);
}

void lower_store(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y, uint32_t rows)
{
    const struct sched_place s = place_of(l, p, GEO_RESULT);
    const uint32_t n = geo_result_rows(&p->geo, rows), first = l->stream->n;

    if (!s.in_memory)
        return;
    if (p->out.streamed)
        store_rows(l, p->op->row, &s, y, n, (uint32_t)lower_result(l, p, tile, y), p->out.pitch,
                   false);
    else
        store_resident(l, p, y, n, y + rows == p->geo.oh && p->last);
    stored(l, p, first);
}

/* Return true if storing parts of `rows` rows is as fast as whole rows: always for few parts; for
 * more if a response takes longer than the transfer of a part. */
static bool parts_go(const struct lower *l, const struct sched_place *s, uint32_t rows)
{
    const uint64_t wait = (uint64_t)l->program->options.mem_latency * l->hw->axi_bytes;

    return rows <= STORE_BURSTS || wait <= (uint64_t)STORE_BURSTS * s->row_bytes;
}

bool lower_stores_parts(const struct lower *l, const struct op_plan *p, uint32_t y, uint32_t rows)
{
    const struct sched_place s = place_of(l, p, GEO_RESULT);
    const bool last = y + rows == p->geo.oh && p->last,
               by_rows = p->out.streamed || !stored_whole(l, p);

    return s.in_memory && s.cols == 1 && p->geo.up_y == 1 && last && by_rows &&
           parts_go(l, &s, rows);
}

void lower_store_part(struct lower *l, const struct op_plan *p, uint32_t tile, uint32_t y,
                      uint32_t rows, uint32_t first, uint32_t n)
{
    struct sched_place s = place_of(l, p, GEO_RESULT);
    const uint32_t from = (uint32_t)lower_result(l, p, tile, y) + first, command = l->stream->n;

    s.mem_offset += first;
    s.row_bytes = n;
    store_rows(l, p->op->row, &s, y, rows, from, p->out.streamed ? p->out.pitch : s.pitch, true);
    stored(l, p, command);
}

/* n_bytes in one row, from the first of `s` on. */
static struct sched_place bytes_of(struct sched_place s, uint32_t n_bytes)
{
    s.cols = s.h = 1;
    s.row_bytes = s.mem_pitch = s.mem_pixel = n_bytes;
    return s;
}

void lower_load_bytes(struct lower *l, uint32_t row, uint32_t tensor, uint32_t n_bytes, uint32_t at)
{
    const struct sched_place s = bytes_of(l->program->place[tensor], n_bytes);

    load_rows(l, row, &s, 0, 1, 1, at, n_bytes, true);
}

void lower_load_constant(struct lower *l, uint32_t row, const void *bytes, uint32_t n_bytes,
                         uint32_t at)
{
    const struct sched_place from = {.mem_region = HD_REGION_CONSTANTS,
                                     .mem_offset = sched_constant(l->program, bytes, n_bytes),
                                     .mem_bytes = n_bytes};
    const struct sched_place s = bytes_of(from, n_bytes);

    load_rows(l, row, &s, 0, 1, 1, at, n_bytes, true);
}

void lower_store_bytes(struct lower *l, uint32_t row, uint32_t tensor, uint32_t n_bytes,
                       uint32_t at)
{
    const struct sched_place s = bytes_of(l->program->place[tensor], n_bytes);

    store_rows(l, row, &s, 0, 1, at, n_bytes, false);
}

void lower_direct(struct lower *l, const struct op_plan *p)
{
    const struct sched_place x = place_of(l, p, 0), out = place_of(l, p, GEO_RESULT);

    if (p->in[0].streamed)
        load_rows(l, p->op->row, &x, 0, out.h, 1, out.base, out.pitch, true);
    else {
        int32_t base;
        lower_operand(l, p, 0, 0, 0, x.h, &base);
        store_rows(l, p->op->row, &out, 0, x.h, (uint32_t)base, x.pitch, false);
    }
}
