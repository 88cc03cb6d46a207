#include "provisioner-lib/azure/disk_hold.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

enum {
    /* After Azure's answer to the one before. It refuses an attach that comes within 200 ms. */
    SHARED_CHANGE_MS = 250,
    REFUSED_MS = 10 * 60 * 1000,
};

struct held_disk {
    char *disk;
    struct list holds; /* of struct disk_hold */
    UT_hash_handle hh;
};

static struct held_disk *find(const struct vm_cache *cache, const char *disk)
{
    struct held_disk *held;

    HASH_FIND_STR(cache->held, disk, held);
    return held;
}

static struct disk_hold *hold_of(struct list *link)
{
    return CONTAINER_OF(link, struct disk_hold, of_disk);
}

/* ---- taking and giving back ---- */

static struct disk_hold *add(struct vm_cache *cache, const char *disk)
{
    struct disk_hold *hold = mem_alloc(sizeof *hold);
    struct held_disk *held = find(cache, disk);

    if (!held) {
        held = mem_alloc(sizeof *held);
        *held = (struct held_disk){.disk = mem_strdup(disk)};
        list_init(&held->holds);
        HASH_ADD_KEYPTR(hh, cache->held, held->disk, strlen(held->disk), held);
    }
    *hold = (struct disk_hold){.disk = held, .opens_at = TIMER_NEVER};
    list_append(&held->holds, &hold->of_disk);
    return hold;
}

static void drop(struct vm_cache *cache, struct disk_hold *hold)
{
    struct held_disk *held = hold->disk;

    list_remove(&hold->of_disk);
    free(hold);
    if (!list_is_empty(&held->holds))
        return;
    HASH_DEL(cache->held, held);
    free(held->disk);
    free(held);
}

static bool has_own(const struct vm *vm, const char *disk)
{
    struct held_disk *held = find(vm->cache, disk);

    if (!held)
        return false;
    LIST_FOREACH(&held->holds, link) {
        if (hold_of(link)->vm == vm)
            return true;
    }
    return false;
}

void disk_hold_take(struct vm *vm, const char *disk, enum vm_change_kind kind)
{
    if (has_own(vm, disk))
        return;
    struct disk_hold *hold = add(vm->cache, disk);
    hold->vm = vm;
    hold->kind = kind;
    list_append(&vm->holds, &hold->of_vm);
}

void disk_hold_open_all(struct vm *vm)
{
    LIST_FOREACH(&vm->holds, link) {
        CONTAINER_OF(link, struct disk_hold, of_vm)->opens_at =
            loop_now(vm->cache->loop) + SHARED_CHANGE_MS;
    }
    waiters_wake(&vm->cache->changed);
}

void disk_hold_release_all(struct vm *vm)
{
    struct list *link;

    while ((link = list_take_first(&vm->holds)))
        drop(vm->cache, CONTAINER_OF(link, struct disk_hold, of_vm));
    waiters_wake(&vm->cache->changed);
}

struct err *vm_disk_hold(struct task *self, struct vm_cache *cache, const char *disk_id,
                         struct disk_hold **ret)
{
    CLEANUP(freep) char *disk = mem_lower(disk_id);

    while (find(cache, disk))
        TRY(wait_for_change(self, &cache->changed, TIMER_NEVER));
    *ret = add(cache, disk);
    return NULL;
}

void vm_disk_release(struct vm_cache *cache, struct disk_hold *hold)
{
    drop(cache, hold);
    waiters_wake(&cache->changed);
}

/* ---- whether others have it ---- */

/* When such a change may begin beside the one that has the hold. */
static uint64_t opens_at(const struct vm_cache *cache, const struct disk_hold *hold,
                         enum vm_change_kind kind)
{
    return hold->vm && hold->kind == kind && loop_now(cache->loop) >= cache->overlaps_after
               ? hold->opens_at
               : TIMER_NEVER;
}

uint64_t disk_hold_until(const struct vm *vm, const char *disk, enum vm_change_kind kind)
{
    struct held_disk *held = find(vm->cache, disk);
    uint64_t until = 0;

    if (!held)
        return 0;
    LIST_FOREACH(&held->holds, link) {
        uint64_t at = opens_at(vm->cache, hold_of(link), kind);

        if (hold_of(link)->vm != vm && at > until)
            until = at;
    }
    return until > loop_now(vm->cache->loop) ? until : 0;
}

bool disk_hold_is_shared(const struct vm *vm, const char *disk)
{
    struct held_disk *held = find(vm->cache, disk);

    if (!held)
        return false;
    LIST_FOREACH(&held->holds, link) {
        if (hold_of(link)->vm != vm)
            return true;
    }
    return false;
}

void disk_hold_refused(struct vm_cache *cache)
{
    cache->overlaps_after = loop_now(cache->loop) + REFUSED_MS;
}
