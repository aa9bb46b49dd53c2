/* hd_stream.h - the stream mover of a simulated core: moves bytes of its memory to its AXI4-Stream
 * inputs and from its outputs, which are numbered in the order of its ports. On a board it is a DMA
 * engine with these registers. C11, freestanding. */
#ifndef HD_STREAM_H
#define HD_STREAM_H

#include "hd_port.h"

/* Registers of input i and of output i, above those of the core. */
#define HD_STREAM_IN(i)   (0xe000u + 0x20u * (i))
#define HD_STREAM_OUT(i)  (0xf000u + 0x20u * (i))
#define HD_STREAM_ADDRESS 0u /* address of the first byte in the core's memory */
#define HD_STREAM_BYTES   4u /* a write starts the transfer; a read returns the bytes left */

/* Start a transfer of n_bytes from `address` on to input i. The last byte has TLAST. */
static inline void hd_stream_send(const struct hd_port *dev, uint32_t i, uint32_t address,
                                  uint32_t n_bytes)
{
    dev->write32(dev->ctx, HD_STREAM_IN(i) + HD_STREAM_ADDRESS, address);
    dev->write32(dev->ctx, HD_STREAM_IN(i) + HD_STREAM_BYTES, n_bytes);
}

/* Start a transfer of n_bytes from output i. For a core without an interrupt, wait_irq waits for
 * the end of all transfers. */
static inline void hd_stream_receive(const struct hd_port *dev, uint32_t i, uint32_t address,
                                     uint32_t n_bytes)
{
    dev->write32(dev->ctx, HD_STREAM_OUT(i) + HD_STREAM_ADDRESS, address);
    dev->write32(dev->ctx, HD_STREAM_OUT(i) + HD_STREAM_BYTES, n_bytes);
}

#endif
