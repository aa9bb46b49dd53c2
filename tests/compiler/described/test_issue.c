/* Instructions of a described device, products or pieces of layers: units that execute them in any order that their waits allow give
 * the bytes of the convolution, for layers cut in every way; without the waits they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/described/described.h"
#include "kernels/hdk.h"
#include "kernels/hdk_math.h"

enum { DEPTH = 4, LANES = 4, OUTSIDE = 65536, CHIP = 4096, ALL = OUTSIDE + 5 * CHIP, MOST = 4096 };

/* Units with queues: instructions execute when the test decides. */
struct units {
    struct hdk_device device;
    struct hdk_issue queue[HDK_UNITS][HDK_QUEUE];
    uint32_t put[HDK_UNITS], take[HDK_UNITS];
    uint32_t token[HDK_UNITS][HDK_UNITS]; /* [from][to] */
    uint32_t n_token;
    bool ignore; /* waits */
    uint32_t seed, n_wait;
    uint32_t n_read[HDK_ROLES]; /* bytes of copies from outside */
    uint8_t model[ALL];
};

static uint32_t some(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static bool may_begin(const struct units *u, uint32_t unit)
{
    const struct hdk_issue *i = &u->queue[unit][u->take[unit] % HDK_QUEUE];

    if (u->put[unit] == u->take[unit])
        return false;
    for (uint32_t v = 0; v < u->device.n_unit && !u->ignore; v++)
        if (u->device.tokens ? (i->pop >> v & 1) > u->token[v][unit] : u->take[v] < i->wait[v])
            return false;
    return true;
}

/* Execute one instruction of a random unit; false: none may begin. */
static bool advance(struct units *u)
{
    const uint32_t first = some(&u->seed, u->device.n_unit);

    for (uint32_t k = 0; k < u->device.n_unit; k++) {
        const uint32_t unit = (first + k) % u->device.n_unit;
        if (!may_begin(u, unit))
            continue;
        const struct hdk_issue *i = &u->queue[unit][u->take[unit]++ % HDK_QUEUE];
        hdk_meaning(&u->device, i);
        for (uint32_t v = 0; v < u->device.n_unit; v++) {
            u->token[v][unit] -= i->pop >> v & 1;
            u->token[unit][v] += i->push >> v & 1;
            u->n_token += i->push >> v & 1;
        }
        return true;
    }
    return false;
}

static int issue(const struct hd_port *dev, const struct hdk_issue *i)
{
    struct units *u = dev->ctx;
    const uint32_t unit = u->device.instruction[i->role].unit;

    assert_true(u->put[unit] - u->take[unit] < u->device.queue);
    for (uint32_t v = 0; v < u->device.n_unit; v++)
        u->n_wait += i->wait[v] > 0;
    u->n_read[i->role] += i->from.n_bytes;
    u->queue[unit][u->put[unit]++ % HDK_QUEUE] = *i;
    while (some(&u->seed, 3) == 0 && advance(u))
        ;
    return 0;
}

static int begin(const struct hd_port *dev)
{
    struct units *u = dev->ctx;

    memset(u->put, 0, sizeof u->put);
    memset(u->take, 0, sizeof u->take);
    memset(u->token, 0, sizeof u->token);
    return 0;
}

static int wait(const struct hd_port *dev, uint32_t unit, uint32_t count)
{
    struct units *u = dev->ctx;

    while (u->take[unit] < count)
        assert_true(advance(u)); /* otherwise units wait for one another */
    return 0;
}

static int to_device(void *ctx, uint64_t device, const void *host, size_t n_bytes)
{
    struct units *u = ctx;

    assert_true(device + n_bytes <= OUTSIDE);
    memcpy(u->model + device, host, n_bytes);
    return 0;
}

static int from_device(void *ctx, void *host, uint64_t device, size_t n_bytes)
{
    const struct units *u = ctx;

    assert_true(device + n_bytes <= OUTSIDE);
    memcpy(host, u->model + device, n_bytes);
    return 0;
}

static void set_up(struct units *u, uint32_t queue, uint32_t seed)
{
    /* Units: load, preload, array, store. Memories: outside, pixels, filters, channels, weights,
     * sums. */
    static const struct hdk_instruction of[HDK_ROLES] = {
        {0, 0, 0, 1, issue}, {0, 0, 0, 2, issue},
        {0, 0, 0, 3, issue}, {1, 2, 0, 4, issue},
        {2, 1, 4, 5, issue}, {3, 5, 3, 0, issue},
        {2, 1, 0, 5, issue}, {3, 5, 3, 1, issue},
        {1, 2, 0, 4, issue}, [HDK_MULTIPLY] = {2, 1, 2, 5, issue}};

    u->device = (struct hdk_device){.n_unit = 4,
                                    .n_memory = 6,
                                    .queue = queue,
                                    .depth = DEPTH,
                                    .lanes = LANES,
                                    .model = u->model,
                                    .begin = begin,
                                    .wait = wait};
    memcpy(u->device.instruction, of, sizeof of);
    if (seed >> 10 & 1) { /* pieces of layers, of two units */
        u->device.instruction[HDK_PIECE] = (struct hdk_instruction){3, 1, 2, 0, issue};
        u->device.instruction[HDK_PIECE_KEEP] = (struct hdk_instruction){3, 1, 2, 1, issue};
    }
    for (uint32_t i = 1; i < 6; i++)
        u->device.memory_at[i] = OUTSIDE + (i - 1) * CHIP;
    if (seed >> 11 & 1) { /* weights and channels come by units of their own */
        u->device.n_unit = 6;
        u->device.instruction[HDK_FILTERS_IN].unit = 4;
        u->device.instruction[HDK_CHANNELS_IN].unit = 5;
    }
    u->device.tokens = seed >> 9 & 1;
    if (seed >> 10 & 1) /* weights of a tap in place */
        u->device.instruction[HDK_SPREAD].issue = NULL;
    u->seed = seed;
    u->n_wait = 0;
    u->n_token = 0;
    memset(u->n_read, 0, sizeof u->n_read);
    for (uint32_t i = 0; i < ALL; i++)
        u->model[i] = (uint8_t)some(&seed, 256);
}

/* A layer of few pixels, cut at random. */
static void random_layer(struct hdk_layer *p, uint32_t *seed)
{
    *p = (struct hdk_layer){.in_h = 3 + some(seed, 5),
                            .in_w = 3 + some(seed, 5),
                            .in_c = 1 + some(seed, 9),
                            .out_c = 1 + some(seed, 14),
                            .kernel_h = 1 + some(seed, 3),
                            .kernel_w = 1 + some(seed, 3),
                            .stride_h = 1 + some(seed, 2),
                            .stride_w = 1 + some(seed, 2),
                            .dilation_h = 1,
                            .dilation_w = 1 + some(seed, 2),
                            .pad_top = (int32_t)some(seed, 2),
                            .pad_left = (int32_t)some(seed, 2),
                            .z_in = (int32_t)some(seed, 20) - 10,
                            .z_out = 3,
                            .act_min = -100,
                            .act_max = 110,
                            .together = some(seed, 2)};
    p->out_h = 1 + some(seed, 5);
    if (!p->together && some(seed, 3) == 0) {
        p->kind = HDK_LAYER_DEPTHWISE;
        p->out_c = p->in_c;
    }
    p->phases = p->together || p->kind == HDK_LAYER_DEPTHWISE ? 1 : 1 + some(seed, 3);
    p->out_w = p->phases * (1 + some(seed, 4 / p->phases));
    const uint32_t apart = (p->phases - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    const uint32_t bytes =
        p->together ? p->kernel_h * p->kernel_w * p->in_c : (p->phases > 1 ? apart : 1) * p->in_c;
    const uint32_t columns =
        p->together || p->phases > 1 ? p->out_w / p->phases : (p->out_w - 1) * p->stride_w + apart;
    const uint32_t blocks = (p->out_c + LANES - 1) / LANES;
    p->pixel = (bytes + DEPTH - 1) / DEPTH * DEPTH;
    p->pitch = columns * p->pixel;
    p->band = 1 + some(seed, p->out_h);
    p->group = 1 + some(seed, blocks);
    p->image_whole = some(seed, 2);
    p->filters_whole = some(seed, 2);
    p->image_step = !p->image_whole && some(seed, 2) ? CHIP / 2 : 0;
    p->filters_step = !p->filters_whole && some(seed, 2) ? CHIP / 2 : 0;
    p->sums_step = some(seed, 2) ? CHIP / 2 : 0;
    p->filters_at = 16384;
    p->channels_at = 32768;
    p->out_at = 40960;
}

static bool fits(const struct hdk_layer *p)
{
    const uint32_t blocks = (p->out_c + LANES - 1) / LANES;
    const uint32_t weights =
        (p->filters_whole ? blocks : p->group) * hdk_layer_block(p, DEPTH, LANES);
    const uint32_t image = hdk_layer_rows(p, p->image_whole ? p->out_h : p->band) * p->pitch;

    return weights <= (p->filters_step ? CHIP / 2 : CHIP) &&
           image <= (p->image_step ? CHIP / 2 : CHIP) && p->band * p->out_w * LANES * 4 <= CHIP / 2;
}

static int8_t x[MOST], plain[MOST], w[8 * MOST], y[MOST], want[MOST];
static struct hdk_channel channels[16];

/* The weight of window byte k and channel n. */
static int8_t weight(const struct hdk_layer *p, uint32_t k, uint32_t n)
{
    return p->kind == HDK_LAYER_DEPTHWISE && k % p->in_c != n ? 0 : plain[k * 16 + n];
}

/* Where the device has it for one of the phases. */
static int8_t *there(const struct hdk_layer *p, uint32_t k, uint32_t n, uint32_t phase)
{
    const uint32_t cuts = p->pixel / DEPTH, parts = hdk_layer_parts(p, DEPTH);
    const uint32_t tap = k / p->in_c, c = k % p->in_c;
    const uint32_t column = phase * p->stride_w + tap % p->kernel_w * p->dilation_w;
    const uint32_t byte = p->together ? k : p->phases > 1 ? column * p->in_c + c : c;
    const uint32_t first = p->together ? 0 : p->phases > 1 ? tap / p->kernel_w : tap;
    const uint32_t part = first * cuts + byte / DEPTH;

    if (p->kind == HDK_LAYER_DEPTHWISE)
        return &w[(n / LANES * parts + tap) * LANES + n % LANES];
    return &w[(((n / LANES * p->phases + phase) * parts + part) * DEPTH + byte % DEPTH) * LANES +
              n % LANES];
}

static void convolve(const struct hdk_layer *p)
{
    for (uint32_t i = 0; i < p->out_h * p->out_w * p->out_c; i++) {
        const uint32_t n = i % p->out_c, column = i / p->out_c % p->out_w,
                       row = i / p->out_c / p->out_w;
        int32_t sum = channels[n].bias;
        for (uint32_t k = 0; k < p->kernel_h * p->kernel_w * p->in_c; k++) {
            const uint32_t tap = k / p->in_c;
            const int32_t r =
                (int32_t)(row * p->stride_h + tap / p->kernel_w * p->dilation_h) - p->pad_top;
            const int32_t c =
                (int32_t)(column * p->stride_w + tap % p->kernel_w * p->dilation_w) - p->pad_left;
            const bool in = r >= 0 && c >= 0 && r < (int32_t)p->in_h && c < (int32_t)p->in_w;
            sum +=
                weight(p, k, n) *
                (in ? x[((uint32_t)r * p->in_w + (uint32_t)c) * p->in_c + k % p->in_c] : p->z_in);
        }
        want[i] = hdk_clamp(hdk_rescale(sum, channels[n].multiplier, channels[n].shift), p->z_out,
                            p->act_min, p->act_max);
    }
}

/* Random bytes; weights of what fills up pixels are 0, as the compiler writes them. */
static void random_bytes(const struct hdk_layer *p, uint32_t *seed)
{
    for (uint32_t i = 0; i < p->in_h * p->in_w * p->in_c; i++)
        x[i] = (int8_t)((int32_t)some(seed, 256) - 128);
    memset(w, 0, sizeof w);
    for (uint32_t i = 0; i < p->kernel_h * p->kernel_w * p->in_c * p->out_c; i++) {
        const uint32_t k = i / p->out_c, n = i % p->out_c;
        plain[k * 16 + n] = (int8_t)((int32_t)some(seed, 256) - 128);
        for (uint32_t phase = 0; phase < p->phases; phase++)
            if (p->kind == HDK_LAYER_CONVOLVE || k % p->in_c == n)
                *there(p, k, n, phase) = weight(p, k, n);
    }
    for (uint32_t n = 0; n < 16; n++)
        channels[n] = (struct hdk_channel){(int32_t)some(seed, 2000) - 1000,
                                           (int32_t)(1u << 30 | some(seed, 1u << 24)),
                                           -(int32_t)some(seed, 12)};
}

static uint32_t wrong_bytes(struct units *u, const struct hdk_layer *p)
{
    const struct hd_port port = {.ctx = u, .to_device = to_device, .from_device = from_device};
    uint32_t n = 0;

    memset(y, 0, sizeof y);
    assert_int_equal(hdk_described_run(p, &u->device, &port, x, w, channels, y), 0);
    for (uint32_t v = 0; v < HDK_UNITS * HDK_UNITS && !u->ignore; v++)
        assert_int_equal(u->token[v / HDK_UNITS][v % HDK_UNITS], 0); /* each is taken */
    for (uint32_t i = 0; i < p->out_h * p->out_w * p->out_c; i++)
        n += y[i] != want[i];
    return n;
}

/* An image that has a place on chip as a whole is copied there once, and so are weights. */
static void read_once(const struct units *u, const struct hdk_layer *p)
{
    const uint32_t blocks = (p->out_c + LANES - 1) / LANES;

    if (p->image_whole)
        assert_true(u->n_read[HDK_MOVE_IN] <= hdk_layer_rows(p, p->out_h) * p->pitch);
    if (p->filters_whole)
        assert_int_equal(u->n_read[HDK_FILTERS_IN], blocks * hdk_layer_block(p, DEPTH, LANES));
}

static void test_any_order(void **state)
{
    static struct units u;
    uint32_t seed = 1, layers = 0, waits = 0, wrong_without = 0;
    struct hdk_layer p;

    (void)state;
    while (layers < 400) {
        random_layer(&p, &seed);
        if (!fits(&p))
            continue;
        layers++;
        random_bytes(&p, &seed);
        convolve(&p);
        set_up(&u, 1 + some(&seed, HDK_QUEUE), seed);
        u.ignore = false;
        assert_int_equal(wrong_bytes(&u, &p), 0);
        waits += u.n_wait;
        read_once(&u, &p);
        assert_int_equal(hdk_described_run(&p, &u.device, NULL, x, w, channels, y), 0);
        assert_memory_equal(y, want, p.out_h * p.out_w * p.out_c); /* the model alone */
        u.ignore = true;
        wrong_without += wrong_bytes(&u, &p) > 0;
    }
    assert_true(waits > 4 * layers);
    assert_true(wrong_without > layers / 2);
}

static struct hdk_layer random_sum(uint32_t *seed)
{
    struct hdk_layer p = {.kind = HDK_LAYER_ADD,
                          .in_h = 1 + some(seed, 6),
                          .in_w = 1 + some(seed, 6),
                          .in_c = 1 + some(seed, 12),
                          .kernel_h = 1,
                          .kernel_w = 1,
                          .phases = 1,
                          .stride_h = 1,
                          .stride_w = 1,
                          .dilation_h = 1,
                          .dilation_w = 1,
                          .z_out = -3,
                          .act_min = -120,
                          .act_max = 100,
                          .filters_at = 16384,
                          .channels_at = 32768,
                          .out_at = 40960};

    p.out_h = p.in_h;
    p.out_w = p.in_w;
    p.out_c = p.in_c;
    p.pixel = (p.in_c + LANES - 1) / LANES * LANES;
    p.pitch = p.in_w * p.pixel;
    p.group = p.pixel / LANES;
    p.band = 1 + some(seed, p.out_h);
    p.image_step = some(seed, 2) ? CHIP / 2 : 0;
    p.sums_step = some(seed, 2) ? CHIP / 2 : 0;
    for (uint32_t k = 0; k < 2; k++)
        p.operand[k] =
            (struct hdk_operand){.zero = (int32_t)some(seed, 30) - 15,
                                 .multiplier = (int32_t)(1u << 30 | some(seed, 1u << 24)),
                                 .shift = -(int32_t)some(seed, 3)};
    return p;
}

/* Additions, cut into bands, against the kernel of the host. */
static void test_add(void **state)
{
    static struct units u;
    uint32_t seed = 7, waits = 0;

    (void)state;
    for (uint32_t k = 0; k < 200; k++) {
        const struct hdk_layer p = random_sum(&seed);
        const uint32_t n = p.in_h * p.in_w * p.in_c;

        random_bytes(&p, &seed);
        for (uint32_t i = 0; i < n; i++)
            w[i] = (int8_t)((int32_t)some(&seed, 256) - 128);
        for (uint32_t i = 0; i < LANES; i++)
            channels[i] = (struct hdk_channel){0, (int32_t)(1u << 30 | some(&seed, 1000)), -18};
        for (uint32_t i = 1; i < LANES; i++)
            channels[i] = channels[0];
        const struct hdk_add add = {.walk = {{1, 1, 1, n}, {0, 0, 0, 1}, {0, 0, 0, 1}},
                                    .z_a = p.operand[0].zero,
                                    .z_b = p.operand[1].zero,
                                    .z_out = p.z_out,
                                    .act_min = p.act_min,
                                    .act_max = p.act_max,
                                    .multiplier_a = p.operand[0].multiplier,
                                    .multiplier_b = p.operand[1].multiplier,
                                    .multiplier_out = channels[0].multiplier,
                                    .shift_a = p.operand[0].shift,
                                    .shift_b = p.operand[1].shift,
                                    .shift_out = channels[0].shift};
        hdk_add(&add, x, w, want);
        set_up(&u, 1 + some(&seed, HDK_QUEUE), seed);
        u.ignore = false;
        assert_int_equal(wrong_bytes(&u, &p), 0);
        waits += u.n_wait;
        assert_int_equal(hdk_described_run(&p, &u.device, NULL, x, w, channels, y), 0);
        assert_memory_equal(y, want, n);
    }
    assert_true(waits > 400);
}

/* A pool divides sums of every size as the kernel of the host does. */
static void test_pool_division(void **state)
{
    static const uint32_t sides[][2] = {{1, 1}, {1, 2},  {3, 1}, {2, 2},   {5, 1},   {3, 3},
                                        {7, 2}, {25, 5}, {8, 8}, {16, 11}, {64, 64}, {4095, 1}};

    (void)state;
    for (uint32_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        const struct hdk_layer p = {
            .kind = HDK_LAYER_POOL, .kernel_h = sides[k][0], .kernel_w = sides[k][1]};
        const int32_t n = (int32_t)(sides[k][0] * sides[k][1]);
        const struct hdk_channel c = described_channel(&p, NULL);

        for (int32_t sum = -128 * n; sum <= 127 * n; sum++) {
            const int32_t mean = (sum > 0 ? sum + n / 2 : sum - n / 2) / n;
            assert_int_equal(hdk_rescale(16 * sum, c.multiplier, c.shift), mean);
        }
    }
}

static int inspect(const struct hd_port *port, uint32_t memory, void *host, uint64_t device,
                   size_t n_bytes)
{
    const struct units *u = port->ctx;

    memcpy(host, u->model + u->device.memory_at[memory] + device, n_bytes);
    return 0;
}

/* Let the result of p stay in the upper half of the pixels, with padding. */
static bool let_stay(struct hdk_layer *p, uint32_t *seed)
{
    const uint32_t pixel = (p->out_c + LANES - 1) / LANES * LANES;

    p->top = some(seed, 3);
    p->left = some(seed, 3);
    p->bottom = some(seed, 3);
    p->right = some(seed, 3);
    const uint32_t row = (p->left + p->out_w + p->right) * pixel;
    const uint32_t at = CHIP / 2 + p->top * row + p->left * pixel;
    p->result = (struct hdk_place){1, at, row};
    return (p->top + p->out_h + p->bottom) * row <= CHIP / 2 &&
           (p->left + p->out_w + p->right) * (p->top + p->out_h + p->bottom) * LANES * 4 <=
               CHIP / 2;
}

/* A convolution of the result of p, with its padding. */
static struct hdk_layer next_layer(const struct hdk_layer *p, uint32_t *seed)
{
    struct hdk_layer q;

    do {
        random_layer(&q, seed);
        q.together = 0;
        q.in_h = p->out_h;
        q.in_w = p->out_w;
        q.in_c = p->out_c;
        q.z_in = p->z_out;
        q.pad_top = (int32_t)some(seed, p->top + 1);
        q.pad_left = (int32_t)some(seed, p->left + 1);
        q.out_h = 1 + some(seed, 4);
        q.out_w = 1 + some(seed, 4);
        q.phases = 1;
        q.out_c = q.kind == HDK_LAYER_DEPTHWISE ? q.in_c : 1 + some(seed, 14);
    } while (hdk_layer_rows(&q, q.out_h) > (uint32_t)q.pad_top + p->out_h + p->bottom ||
             (q.out_w - 1) * q.stride_w + (q.kernel_w - 1) * q.dilation_w + 1 >
                 (uint32_t)q.pad_left + p->out_w + p->right);
    q.pixel = (q.in_c + DEPTH - 1) / DEPTH * DEPTH;
    q.pitch = p->result.row;
    q.band = 1 + some(seed, q.out_h);
    q.group = (q.out_c + LANES - 1) / LANES;
    q.image_whole = q.filters_whole = 1;
    q.image_step = q.filters_step = 0;
    q.operand[0].place = p->result;
    q.image_at = p->result.at - (uint32_t)q.pad_top * q.pitch - (uint32_t)q.pad_left * q.pixel;
    return q;
}

/* The layer with units in any order, then with the model alone, where its operands are on the host. */
static void right(struct units *u, const struct hdk_layer *p)
{
    const struct hd_port port = {
        .ctx = u, .to_device = to_device, .from_device = from_device, .inspect = inspect};
    static uint8_t model[ALL];

    memset(y, 0, sizeof y);
    assert_int_equal(hdk_described_run(p, &u->device, &port, x, w, channels, y), 0);
    assert_memory_equal(y, want, p->out_h * p->out_w * p->out_c);
    memcpy(model, u->model, ALL);
    memset(u->model, 0x55, ALL);
    memset(y, 0, sizeof y);
    assert_int_equal(hdk_described_run(p, &u->device, NULL, x, w, channels, y), 0);
    assert_memory_equal(y, want, p->out_h * p->out_w * p->out_c);
    memcpy(u->model, model, ALL);
}

/* Results that stay, read by the next layer. */
static void test_stay(void **state)
{
    static struct units u;
    uint32_t seed = 3, layers = 0;
    struct hdk_layer p, q;

    (void)state;
    while (layers < 200) {
        random_layer(&p, &seed);
        if (!fits(&p) || hdk_layer_rows(&p, p.out_h) * p.pitch > CHIP / 2 || !let_stay(&p, &seed))
            continue;
        p.image_step = 0;
        p.image_whole = 1;
        layers++;
        set_up(&u, 1 + some(&seed, HDK_QUEUE), seed);
        u.ignore = false;
        random_bytes(&p, &seed);
        convolve(&p);
        right(&u, &p);
        q = next_layer(&p, &seed);
        const uint32_t n = p.out_h * p.out_w * p.out_c;
        if (!fits(&q))
            continue;
        random_bytes(&q, &seed);
        memcpy(x, y, n); /* as on the chip */
        convolve(&q);
        right(&u, &q);
    }
}

static int broken(const struct hd_port *dev, const struct hdk_issue *i)
{
    return i->role == HDK_PRODUCT ? -7 : issue(dev, i);
}

/* The first error of the device ends the layer. */
static void test_error(void **state)
{
    static struct units u;
    const struct hd_port port = {.ctx = &u, .to_device = to_device, .from_device = from_device};
    uint32_t seed = 5;
    struct hdk_layer p;

    (void)state;
    do
        random_layer(&p, &seed);
    while (!fits(&p));
    set_up(&u, 2, 1);
    for (uint32_t i = 0; i < HDK_ROLES; i++)
        if (u.device.instruction[i].issue)
            u.device.instruction[i].issue = broken;
    assert_int_equal(hdk_described_run(&p, &u.device, &port, x, w, channels, y), -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order), cmocka_unit_test(test_add), cmocka_unit_test(test_stay),
        cmocka_unit_test(test_pool_division), cmocka_unit_test(test_error)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
