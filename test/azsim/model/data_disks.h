/* data_disks.h - the list of data disks in a VM's model: what is wanted, not what is.
 *
 * A change of a VM asks for a new list. Reading one from a request and checking it against Azure's
 * rules is all that happens here; vm.c then makes it so. An entry whose disk is being detached
 * stays in the list, marked, until the disk is gone.
 */
#pragma once

#include <jansson.h>

#include "test/azsim/model/disk.h"
#include "test/azsim/model/refusal.h"

struct vm;

/* Two VMs that begin to attach the same shared disk within this time get in each other's way. */
enum { SHARED_ATTACH_WINDOW_MS = 200 };

struct data_disk {
    unsigned lun;
    char *key;                 /* of the disk */
    char unique_id[UUID_SIZE]; /* of the disk that was meant: another may take its name */
    bool to_be_detached;
    json_t *entry; /* as the VM's model shows it */
};

struct data_disks {
    struct data_disk *items;
    size_t n;
    bool force; /* something in it is to be detached by force */
};

void data_disks_fini(struct data_disks *disks);
void data_disks_copy(struct data_disks *to, const struct data_disks *from);
struct data_disk *data_disks_find(const struct data_disks *disks, const char *key); /* or NULL */
void data_disks_remove(struct data_disks *disks, struct data_disk *item);
/* Appends; takes the entry. */
void data_disks_add(struct data_disks *disks, const struct data_disk *item);

static inline void data_disks_finip(struct data_disks *disks)
{
    data_disks_fini(disks);
}

/* The disk that an item means; NULL if it is gone. */
struct disk *data_disk_disk(const struct model *model, const struct data_disk *item);

/* The list that a PUT or PATCH asks for: it replaces the VM's as a whole. `ret` is to be released
 * even after a refusal. */
struct refusal *data_disks_from_list(const struct vm *vm, const json_t *list,
                                     struct data_disks *ret) __attribute__((warn_unused_result));
/* The VM's list, changed as the body of an attachDetachDataDisks asks. */
struct refusal *data_disks_from_attach_detach(const struct vm *vm, const json_t *body,
                                              struct data_disks *ret)
    __attribute__((warn_unused_result));
/* Whether the VM may attach the disk of an item now; it must not have it. */
struct refusal *data_disk_check_attach(const struct vm *vm, const struct data_disk *item)
    __attribute__((warn_unused_result));
/* The rules for a list that is to take the place of the VM's, which will have that size. */
struct refusal *data_disks_check(const struct vm *vm, const struct vm_size *size,
                                 const struct data_disks *wanted)
    __attribute__((warn_unused_result));
