/* loom.h - one function for each instruction of the core (loom_core.sv). */
#include "kernels/described/hdk_described.h"

int loom_pixels_in(const struct hd_port *dev, const struct hdk_issue *i);
int loom_filters_in(const struct hd_port *dev, const struct hdk_issue *i);
int loom_channels_in(const struct hd_port *dev, const struct hdk_issue *i);
int loom_gemm(const struct hd_port *dev, const struct hdk_issue *i);
int loom_lanes(const struct hd_port *dev, const struct hdk_issue *i);
int loom_widen(const struct hd_port *dev, const struct hdk_issue *i);
int loom_alu(const struct hd_port *dev, const struct hdk_issue *i);
int loom_keep(const struct hd_port *dev, const struct hdk_issue *i);
int loom_store(const struct hd_port *dev, const struct hdk_issue *i);
int loom_begin(const struct hd_port *dev);
int loom_wait(const struct hd_port *dev, uint32_t unit, uint32_t count);
