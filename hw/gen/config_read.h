/* config_read.h - declarations of config.c that accel.c needs. */
#ifndef HEDDLE_HW_GEN_CONFIG_READ_H
#define HEDDLE_HW_GEN_CONFIG_READ_H

#include "accel.h"
#include "json.h"

/* Read one configuration object; acc->hash_before and hash_after must be set. */
enum status config_read(const struct accel *acc, const cJSON *object, const char *where,
                        struct hd_config *out, struct diag *d);

#endif
