/* hd.h - the driver: bind memory, submit a command stream, wait, report what went wrong.
 * C11, freestanding, no allocation: callers provide memory. All waits are bounded in device cycles.
 *
 *     struct hd_device dev;
 *     hd_open(&dev, &port, model->config_hash);          checks ID, version, CONFIG_HASH
 *     hd_bind(&dev, HD_REGION_ARENA, arena, device_address, n_bytes, HD_READ | HD_WRITE);
 *     hd_copy_in(&dev, HD_REGION_ARENA, offset, n_bytes); no copy if memory is shared
 *     hd_run(&dev, stream_offset, stream_bytes);
 *     hd_copy_out(&dev, HD_REGION_ARENA, offset, n_bytes); */
#ifndef HD_H
#define HD_H

#include <stddef.h>
#include <stdint.h>

#include "hd_accel.h"
#include "hd_port.h"

enum hd_error {
    HD_OK = 0,
    HD_ERROR_ARGUMENT = -1,  /* a region, offset or size out of range */
    HD_ERROR_NO_DEVICE = -2, /* register ID is not heddle's */
    HD_ERROR_VERSION = -3,   /* command stream version differs */
    HD_ERROR_CONFIG = -4,    /* CONFIG_HASH of device and program differ */
    HD_ERROR_BUSY = -5,      /* a submission is running */
    HD_ERROR_TIMEOUT = -6,   /* wait_cycles passed */
    HD_ERROR_STUCK = -7,     /* the simulator's watchdog: no unit makes progress */
    HD_ERROR_FAULT = -8,     /* the device stopped on a fault, see dev->fault */
    HD_ERROR_BUS = -9,       /* a copy failed */
    HD_ERROR_HOST_OP = -10,  /* a host operator refused its arguments */
};

enum hd_region_index {
    HD_REGION_COMMANDS = 0,
    HD_REGION_CONSTANTS = 1,
    HD_REGION_ARENA = 2,
    HD_REGION_IO = 3, /* inputs in graph order, then outputs, then the state */
};

/* Alignment of every region's device address, bytes: the widest bus. */
#define HD_REGION_ALIGN 64u

/* The device's rights to a region; any other access is fault region_right. */
enum hd_rights { HD_READ = 1, HD_WRITE = 2 };

enum hd_wait_mode { HD_WAIT_IRQ, HD_WAIT_POLL };

struct hd_region {
    void *host;      /* host's copy; NULL if the host never accesses it */
    uint64_t device; /* bus address, a multiple of 64 */
    uint32_t n_bytes;
    uint32_t shared; /* host and device use the same bytes */
    uint32_t rights; /* sum of enum hd_rights */
};

/* Why the device stopped. */
struct hd_fault_info {
    uint32_t code;    /* enum hd_fault of hd_accel.h */
    uint32_t unit;    /* enum hd_unit */
    uint32_t command; /* index of the command in the submission */
    uint64_t address;
};

/* The argument that the last HD_ERROR_ARGUMENT refused. */
struct hd_refused {
    uint32_t region;
    uint32_t align; /* alignment in bytes that `value` violates; 0: it is out of range */
    uint64_t value; /* device address, offset or size */
};

struct hd_device {
    const struct hd_port *port;
    uint64_t wait_cycles;        /* limit of one wait; hd_open sets 100,000,000 */
    enum hd_wait_mode wait_mode; /* hd_open: HD_WAIT_IRQ if the port has wait_irq */
    struct hd_region region[HD_REGIONS];
    struct hd_fault_info fault; /* of the last submission */
    uint64_t cycles;            /* of the last submission */
    uint64_t total_cycles;      /* of all submissions since hd_open */
    uint32_t expected_hash, found_hash;
    uint32_t submissions; /* since hd_open */
    struct hd_refused refused;
};

/* Check that `port` leads to a device that can run this program. Returns HD_ERROR_NO_DEVICE,
 * _VERSION or _CONFIG. */
int hd_open(struct hd_device *dev, const struct hd_port *port, uint32_t config_hash);

/* Set the memory of a region and the device's rights to it (HD_READ, HD_WRITE or both), and write
 * them to the device. Regions not bound since hd_open have no rights. A region is shared if `host`
 * is in the port's window at that device address, or if the port has no copy functions. */
int hd_bind(struct hd_device *dev, uint32_t region, void *host, uint64_t device, uint32_t n_bytes,
            uint32_t rights);
/* Bind `region` to the part of region `of` from byte `offset` on, with its rights: for commands
 * whose position is known at run time. */
int hd_bind_part(struct hd_device *dev, uint32_t region, uint32_t of, uint32_t offset);

/* Copy bytes [offset, offset + n_bytes) of a region to or from the device; for shared memory do
 * cache maintenance. */
int hd_copy_in(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes);
int hd_copy_out(struct hd_device *dev, uint32_t region, uint32_t offset, uint32_t n_bytes);

/* Start the stream at `offset` of region 0; wait for its end; do both. HD_ERROR_FAULT fills
 * dev->fault. */
int hd_submit(struct hd_device *dev, uint32_t offset, uint32_t n_bytes);
int hd_wait(struct hd_device *dev);
int hd_run(struct hd_device *dev, uint32_t offset, uint32_t n_bytes);

/* Soft reset: drain the bus and clear errors. Region bindings stay. Bounded by wait_cycles. */
int hd_reset(struct hd_device *dev);

/* Return the error as text. */
const char *hd_error_text(int error);
/* Return the error with the device's details: "device fault bad_opcode in fetch, command 12
 * ('03_conv2d'), address 0x...". stream: the host's copy of the submitted stream (for the layer),
 * or NULL; layer_names as in hd_model.h or NULL. Writes at most n_bytes, always terminated; returns
 * buffer. */
const char *hd_describe(const struct hd_device *dev, int error, const uint32_t *stream,
                        size_t stream_bytes, const char *const *layer_names, uint32_t n_layers,
                        char *buffer, size_t n_bytes);

#endif
