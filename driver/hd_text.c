/* hd_text.c - errors as text. Separate from hd.c, so that firmware can leave it out. No printf:
 * freestanding. */
#include "hd.h"

/* A string under construction, never longer than `room` and always terminated. */
struct line {
    char *at;
    size_t room;
};

static void add(struct line *l, const char *s)
{
    while (*s && l->room > 1) {
        *l->at++ = *s++;
        l->room--;
    }
    *l->at = '\0';
}

static void add_number(struct line *l, uint64_t value, uint32_t base, uint32_t digits)
{
    char text[24];
    uint32_t at = sizeof text - 1;

    text[at] = '\0';
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while ((value || sizeof text - 1 - at < digits) && at > 0);
    add(l, text + at);
}

static void add_hex(struct line *l, uint64_t value, uint32_t digits)
{
    add(l, "0x");
    add_number(l, value, 16, digits);
}

const char *hd_error_text(int error)
{
    switch (error) {
    case HD_OK: return "ok";
    case HD_ERROR_ARGUMENT: return "a region, offset or size is out of range";
    case HD_ERROR_NO_DEVICE: return "no heddle accelerator at this port";
    case HD_ERROR_VERSION: return "the device understands another command stream version";
    case HD_ERROR_CONFIG: return "the program was compiled for another hardware configuration";
    case HD_ERROR_BUSY: return "a submission is still running";
    case HD_ERROR_TIMEOUT: return "the device did not finish in the cycles allowed";
    case HD_ERROR_STUCK: return "the device can make no more progress";
    case HD_ERROR_FAULT: return "the device stopped on a fault";
    case HD_ERROR_BUS: return "a copy to or from the device failed";
    case HD_ERROR_HOST_OP: return "a host operator refused its arguments";
    default: return "unknown error";
    }
}

/* Names of enum hd_fault and enum hd_unit; tests/driver/test_hd_text.c compares them with
 * accel.json. */
static const char *fault_name(uint32_t code)
{
    static const char *const name[] = {
        "none",         "bad_header",   "bad_version", "config_mismatch", "bad_opcode",
        "bad_length",   "region_limit", "bus_read",    "bus_write",       "bad_field",
        "region_right", "bad_reserved", "bad_crc"};

    HD_STATIC_ASSERT(sizeof name / sizeof name[0] == HD_FAULT_COUNT, "one name a fault");
    return code < HD_FAULT_COUNT ? name[code] : "unknown";
}

static const char *unit_name(uint32_t unit)
{
    static const char *const name[] = {"load", "weight", "array", "vector", "store", "fetch"};

    HD_STATIC_ASSERT(sizeof name / sizeof name[0] == HD_UNIT_COUNT, "one name a unit");
    return unit < HD_UNIT_COUNT ? name[unit] : "unknown";
}

/* Return the row in the operator table for command `index`, or UINT32_MAX. */
static uint32_t layer_of(const uint32_t *stream, size_t stream_bytes, uint32_t index)
{
    size_t at = HD_HEADER_BYTES;

    while (stream && at + HD_COMMAND_ALIGN <= stream_bytes) {
        const struct hd_common *c = (const struct hd_common *)(const void *)(stream + at / 4);

        if (index-- == 0)
            return c->layer;
        if (c->length == 0)
            break;
        at += (size_t)c->length * HD_COMMAND_ALIGN;
    }
    return UINT32_MAX;
}

static void add_fault(struct line *l, const struct hd_device *dev, uint32_t layer,
                      const char *const *layer_names, uint32_t n_layers)
{
    add(l, "device fault ");
    add(l, fault_name(dev->fault.code));
    add(l, " in ");
    add(l, unit_name(dev->fault.unit));
    add(l, ", command ");
    add_number(l, dev->fault.command, 10, 1);
    if (layer_names && layer < n_layers) {
        add(l, " ('");
        add(l, layer_names[layer]);
        add(l, "')");
    }
    add(l, ", address ");
    add_hex(l, dev->fault.address, 8);
}

const char *hd_describe(const struct hd_device *dev, int error, const uint32_t *stream,
                        size_t stream_bytes, const char *const *layer_names, uint32_t n_layers,
                        char *buffer, size_t n_bytes)
{
    struct line l = {.at = buffer, .room = n_bytes};

    if (n_bytes == 0)
        return buffer;
    *buffer = '\0';
    if (error == HD_ERROR_FAULT) {
        add_fault(&l, dev, layer_of(stream, stream_bytes, dev->fault.command), layer_names,
                  n_layers);
        return buffer;
    }
    add(&l, hd_error_text(error));
    if (error == HD_ERROR_CONFIG) {
        add(&l, ": CONFIG_HASH of the program ");
        add_hex(&l, dev->expected_hash, 8);
        add(&l, ", of the device ");
        add_hex(&l, dev->found_hash, 8);
    } else if (error == HD_ERROR_TIMEOUT) {
        add(&l, " (");
        add_number(&l, dev->wait_cycles, 10, 1);
        add(&l, ")");
    } else if (error == HD_ERROR_ARGUMENT && (dev->refused.region || dev->refused.value)) {
        add(&l, ": region ");
        add_number(&l, dev->refused.region, 10, 1);
        add(&l, ", ");
        add_hex(&l, dev->refused.value, 1);
        if (dev->refused.align) {
            add(&l, ", expected a multiple of ");
            add_number(&l, dev->refused.align, 10, 1);
        }
    }
    return buffer;
}
