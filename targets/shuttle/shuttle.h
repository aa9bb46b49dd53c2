/* shuttle.h - one function for each instruction of the array (shuttle_core.sv). */
#include "kernels/described/hdk_described.h"

int shuttle_pixels_in(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_filters_in(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_channels_in(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_preload(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_spread(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_compute(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_widen(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_move_out(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_keep(const struct hd_port *dev, const struct hdk_issue *i);
int shuttle_begin(const struct hd_port *dev);
int shuttle_wait(const struct hd_port *dev, uint32_t unit, uint32_t count);
