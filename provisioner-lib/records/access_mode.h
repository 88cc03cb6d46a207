/* access_mode.h - how a volume may be used: CSI's access modes and types, and which of them a disk
 * can serve.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/err.h"

/* By the number that CSI and the custom resources give it. */
bool access_mode_is_multi_node(int mode);
bool access_mode_is_read_only(int mode);

/* INVALID, naming the field, unless a disk that `max_shares` nodes can share serves the capability,
 * or every one of the capabilities. */
struct err *capability_check(const Csi__V1__VolumeCapability *capability, int max_shares)
    __attribute__((warn_unused_result));
struct err *capabilities_check(Csi__V1__VolumeCapability *const *capabilities, size_t n,
                               int max_shares) __attribute__((warn_unused_result));
bool capabilities_are_multi_node(Csi__V1__VolumeCapability *const *capabilities, size_t n);
