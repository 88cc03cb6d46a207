#include "test/sim/disk_keys.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "provisioner-lib/host/reservation.h"

struct registration {
    uint64_t key, sequence; /* of the attachment */
};

struct disk_keys {
    char disk[UUID_SIZE]; /* its unique id */
    struct registration registrations[RESERVATION_KEYS];
    size_t n;
    uint32_t generation;
    uint64_t holder;           /* sequence; 0: there is no reservation */
    char holder_vm[UUID_SIZE]; /* of the last one that did not give it back; "" if there is none */
    uint64_t pulled;           /* sequence; 0: none was */
    bool holder_was_pulled;
    UT_hash_handle hh;
};

void disk_keys_fini(struct all_disk_keys *all)
{
    HASH_FOREACH(all->by_disk, keys) {
        HASH_DEL(all->by_disk, keys);
        free(keys);
    }
}

/* ---- what the disk knows ---- */

static bool is_attached(const struct disk *disk, uint64_t sequence)
{
    LIST_FOREACH(&disk->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_DISK(link);

        if (attachment->sequence == sequence)
            return attachment->attached;
    }
    return false;
}

/* With the registration that holds the reservation, that goes. */
static void forget(struct disk_keys *keys, size_t i)
{
    if (keys->registrations[i].sequence == keys->holder) {
        keys->holder_was_pulled = keys->holder == keys->pulled;
        keys->holder = 0;
    }
    keys->registrations[i] = keys->registrations[--keys->n];
}

static struct disk_keys *keys_of(struct all_disk_keys *all, const struct disk *disk)
{
    struct disk_keys *keys;

    HASH_FIND_STR(all->by_disk, disk->unique_id, keys);
    if (!keys) {
        keys = mem_alloc(sizeof *keys);
        memcpy(keys->disk, disk->unique_id, sizeof keys->disk);
        HASH_ADD_STR(all->by_disk, disk, keys);
    }
    for (size_t i = keys->n; i-- > 0;)
        if (!is_attached(disk, keys->registrations[i].sequence))
            forget(keys, i);
    return keys;
}

static void hold(struct disk_keys *keys, const struct attachment *device)
{
    keys->holder = device->sequence;
    keys->holder_was_pulled = false;
    memcpy(keys->holder_vm, device->vm->vm_id, sizeof keys->holder_vm);
}

static struct registration *find(struct disk_keys *keys, uint64_t sequence)
{
    for (size_t i = 0; i < keys->n; i++)
        if (keys->registrations[i].sequence == sequence)
            return &keys->registrations[i];
    return NULL;
}

/* ---- commands ---- */

void disk_keys_read(struct all_disk_keys *all, const struct disk *disk, struct reservation *ret)
{
    struct disk_keys *keys = keys_of(all, disk);

    *ret = (struct reservation){
        .generation = keys->generation, .n_keys = keys->n, .type = RESERVATION_WRITE_EXCLUSIVE};
    for (size_t i = 0; i < keys->n; i++) {
        ret->keys[i] = keys->registrations[i].key;
        if (keys->registrations[i].sequence != keys->holder)
            continue;
        ret->held = true;
        ret->holder = keys->registrations[i].key;
    }
}

void disk_keys_register(struct all_disk_keys *all, const struct attachment *device, uint64_t key)
{
    struct disk_keys *keys = keys_of(all, device->disk);
    struct registration *own = find(keys, device->sequence);

    all->changes++;
    keys->generation++;
    if (own && key)
        own->key = key;
    else if (own)
        forget(keys, (size_t)(own - keys->registrations));
    else if (key && keys->n < RESERVATION_KEYS)
        keys->registrations[keys->n++] = (struct registration){key, device->sequence};
}

void disk_keys_take(struct all_disk_keys *all, const struct attachment *device)
{
    struct disk_keys *keys = keys_of(all, device->disk);

    all->changes++;
    if (!keys->holder && find(keys, device->sequence))
        hold(keys, device);
}

void disk_keys_release(struct all_disk_keys *all, const struct attachment *device)
{
    struct disk_keys *keys = keys_of(all, device->disk);

    all->changes++;
    if (keys->holder != device->sequence)
        return;
    keys->holder = 0;
    keys->holder_vm[0] = 0;
}

void disk_keys_preempt(struct all_disk_keys *all, const struct attachment *device, uint64_t other)
{
    struct disk_keys *keys = keys_of(all, device->disk);
    const struct registration *holder = find(keys, keys->holder);
    bool takes_over = holder && holder->key == other;

    all->changes++;
    if (!find(keys, device->sequence))
        return;
    keys->generation++;
    for (size_t i = keys->n; i-- > 0;)
        if (keys->registrations[i].key == other &&
            keys->registrations[i].sequence != device->sequence)
            forget(keys, i);
    if (takes_over)
        hold(keys, device);
}

bool disk_keys_accept(struct all_disk_keys *all, const struct attachment *device)
{
    const struct disk_keys *keys = keys_of(all, device->disk);

    return !keys->holder || keys->holder == device->sequence;
}

void disk_keys_pulled(struct all_disk_keys *all, const struct attachment *device)
{
    keys_of(all, device->disk)->pulled = device->sequence;
}

bool disk_keys_went_with_holder(struct all_disk_keys *all, const struct disk *disk)
{
    const struct disk_keys *keys = keys_of(all, disk);

    if (keys->holder || !keys->holder_vm[0])
        return false;
    if (keys->holder_was_pulled)
        return true;
    HASH_FOREACH(disk->model->vms, vm) {
        if (strcmp(vm->vm_id, keys->holder_vm) == 0)
            return false;
    }
    return true;
}
