/* devices.h - what a node sees of its disks: the model's attachments as block devices.
 *
 * A disk is a sparse file in the folder "disks" of the state folder. Each attachment to a VM with a
 * deviceDirectory is a loop device of its own over that file, and a link to it,
 * DIRECTORY/data/by-lun/LUN, as azure-vm-utils makes them. Disks of VMs without a deviceDirectory
 * have no devices. The devices outlive the program and are taken over by the next one. Loop's
 * thread.
 */
#pragma once

#include "test/azsim/model/model.h"

struct devices;

struct err *devices_new(const char *state_folder, struct devices **ret)
    __attribute__((warn_unused_result));
void devices_free(struct devices *devices); /* the loop devices stay; NULL is fine */
DEFINE_CLEANUP(struct devices, devices_free)

/* For the model; their ctx is the devices. */
extern const struct model_devices devices_hooks;

/* Brings devices and links in line with a model that was just restored: takes over what fits, makes
 * what is missing, removes what is left over, files included. */
struct err *devices_adopt(struct devices *devices, const struct model *model)
    __attribute__((warn_unused_result));
/* Makes the links of a VM anew: its directory may have been lost with its power. */
struct err *devices_link(struct devices *devices, const struct vm *vm)
    __attribute__((warn_unused_result));
/* Detaches all devices over files of the state folder. */
struct err *devices_remove_all(struct devices *devices) __attribute__((warn_unused_result));
