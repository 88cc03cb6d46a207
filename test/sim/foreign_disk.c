#include "test/sim/foreign_disk.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/resource.h"
#include "test/sim/azure_side.h"
#include "test/sim/world.h"

#define PREFIX "foreign-"

enum { RETRY_MS = 3000, ATTEMPTS = 40 };

struct change {
    struct machine *machine;
    const struct incident *incident;
    unsigned wanted; /* disks to be attached; 0: all are to be detached */
};

/* Refused while the VM is changing, or full: then somebody tries again later. */
static void ask(struct vm *vm, const char *what, const char *disk_id)
{
    CLEANUP(json_decrefp) json_t *body = json_pack("{s:[{s:s}]}", what, "diskId", disk_id);
    struct operation *operation;

    refusal_free(vm_attach_detach(vm, body, &operation));
    model_commit(vm->model);
}

static struct disk *make_disk(struct machine *machine)
{
    struct model *model = machine->world->sim->azure;
    const struct landscape *landscape = &machine->world->sim->landscape;
    CLEANUP(freep)
    char *name = mem_printf(PREFIX "%s-%llu", machine->name, (unsigned long long)model->sequence);
    CLEANUP(freep) char *zone = mem_printf("%u", machine->zone + 1);
    CLEANUP(json_decrefp)
    json_t *body = json_pack("{s:s, s:[s], s:{s:s}, s:{s:{s:s}, s:i}}", "location", model->location,
                             "zones", zone, "sku", "name", "Premium_LRS", "properties",
                             "creationData", "createOption", "Empty", "diskSizeGB", VOLUME_GIB);
    struct operation *operation;
    struct disk *disk = NULL;
    struct refusal *refusal =
        disk_put(model, azure_side_disk_group(model, landscape), name, body, &disk, &operation);

    if (refusal)
        disk = NULL;
    refusal_free(refusal);
    model_commit(model);
    return disk;
}

static bool is_foreign(const char *disk_name)
{
    return strncmp(disk_name, PREFIX, strlen(PREFIX)) == 0;
}

static struct err *attach(struct task *self, const struct change *change)
{
    struct machine *machine = change->machine;

    for (unsigned i = 0; i < change->wanted; i++) {
        struct disk *disk = make_disk(machine);
        CLEANUP(freep) char *key = disk ? mem_strdup(disk->key) : NULL;

        TRY(task_sleep(self, RETRY_MS));
        for (unsigned n = 0; key && n < ATTEMPTS && machine->foreign == change->incident; n++) {
            struct vm *vm = machine_vm(machine);

            disk = disk_find(machine->world->sim->azure, key);
            if (!vm || !disk || attachment_find(vm, disk))
                break;
            ask(vm, "dataDisksToAttach", disk->id);
            TRY(task_sleep(self, RETRY_MS));
        }
    }
    return NULL;
}

/* The id of one that is there, or that the VM's model has: it comes with the next change. NULL if
 * there is none. */
static const char *any_foreign(const struct vm *vm)
{
    LIST_FOREACH(&vm->attachments, link) {
        if (is_foreign(ATTACHMENT_OF_VM(link)->disk->name))
            return ATTACHMENT_OF_VM(link)->disk->id;
    }
    for (size_t i = 0; i < vm->data_disks.n; i++)
        if (is_foreign(resource_text(vm->data_disks.items[i].entry, "name", "")))
            return resource_text(vm->data_disks.items[i].entry, "managedDisk.id", NULL);
    return NULL;
}

static struct err *detach(struct task *self, const struct change *change)
{
    struct machine *machine = change->machine;

    for (;;) {
        struct vm *vm = machine_vm(machine);
        const char *disk_id = vm ? any_foreign(vm) : NULL;

        if (!disk_id || machine->foreign)
            return NULL;
        ask(vm, "dataDisksToDetach", disk_id);
        TRY(task_sleep(self, RETRY_MS));
    }
}

static void run(struct task *self, void *arg)
{
    struct change *change = arg;

    err_free(change->wanted ? attach(self, change) : detach(self, change));
    free(change);
}

static void start(struct machine *machine, unsigned wanted)
{
    struct change *change = mem_alloc(sizeof *change);

    *change = (struct change){.machine = machine, .incident = machine->foreign, .wanted = wanted};
    if (!group_spawn(&machine->world->sim->tasks, "foreign disks", run, change))
        free(change);
}

void foreign_disks_attach(struct machine *machine, const struct incident *incident, unsigned n)
{
    sim_note(machine->world->sim, "%u disks of somebody else come to %s", n, machine->name);
    machine->foreign = incident;
    start(machine, n);
}

void foreign_disks_detach(struct machine *machine)
{
    machine->foreign = NULL;
    start(machine, 0);
}
