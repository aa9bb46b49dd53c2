/* jacquard.h - one function for each instruction of the layer engine (jacquard_core.sv). */
#include "kernels/described/hdk_described.h"

int jacquard_lines_in(const struct hd_port *dev, const struct hdk_issue *i);
int jacquard_filters_in(const struct hd_port *dev, const struct hdk_issue *i);
int jacquard_channels_in(const struct hd_port *dev, const struct hdk_issue *i);
int jacquard_layer(const struct hd_port *dev, const struct hdk_issue *i);
int jacquard_keep(const struct hd_port *dev, const struct hdk_issue *i);
int jacquard_begin(const struct hd_port *dev);
int jacquard_wait(const struct hd_port *dev, uint32_t unit, uint32_t count);
