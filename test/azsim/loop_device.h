/* loop_device.h - block devices over files, by the kernel's loop driver.
 *
 * Each device carries a tag of ours in the kernel, so that after a restart it is known what a
 * device is for, without a file that could be wrong about it. Needs CAP_SYS_ADMIN. Any thread;
 * calls are short.
 */
#pragma once

#include "lib/base/err.h"

enum { LOOP_TAG_SIZE = 64 }; /* its NUL included */

/* A new device over a file, with its node /dev/loopN made if it is missing. */
struct err *loop_device_attach(const char *file, const char *tag, unsigned *ret_number)
    __attribute__((warn_unused_result));
/* Takes the file away; if the device is in use, when the last user closes it. */
struct err *loop_device_detach(unsigned number) __attribute__((warn_unused_result));
/* The file has grown. */
struct err *loop_device_resize(unsigned number) __attribute__((warn_unused_result));

struct loop_device {
    unsigned number;
    char tag[LOOP_TAG_SIZE];
    char *file; /* owned */
};

/* All devices over files in a folder, given as the kernel names it (realpath). */
struct err *loop_devices_find(const char *folder, struct loop_device **ret_devices, size_t *ret_n)
    __attribute__((warn_unused_result));
void loop_devices_free(struct loop_device *devices, size_t n);
