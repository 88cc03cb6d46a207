/* A disk that Azure attaches to no VM, wanted on a VM that is full: what else goes on there must
 * not wait for it, nor fail with it. A person tries it with a volume that no pod uses. */

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/fault.h"
#include "test/sim/attach_detach.h"
#include "test/sim/coverage.h"
#include "test/sim/foreign_disk.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, LOOK_MS = 2000 };

struct trial {
    struct machine *machine;
    struct volume *volume;
    bool late;     /* Azure tells at the end, with the disk in the VM's model, not at the request */
    unsigned rule; /* 0: there is none */
    uint64_t until;
};

/* ---- where ---- */

static bool has_replica(const struct machine *machine)
{
    LIST_FOREACH(&machine->world->volumes, link) {
        const char *disk = VOLUME_OF(link)->disk;
        const struct record *record =
            disk ? record_find(machine->world->sim, disk, machine->name) : NULL;

        if (record && !record->primary && !record->deleting &&
            strcmp(record->state, "Attached") == 0)
            return true;
    }
    return false;
}

static bool suits(const struct machine *machine)
{
    return machine_is_connected(machine) && machine->registered && machine->ready &&
           !machine->struck && !machine->retired && machine_vm(machine) && has_replica(machine);
}

static struct machine *any_machine(struct world *world, struct random *random)
{
    struct machine *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&world->machines, link) {
        if (suits(MACHINE_OF(link)) && !MACHINE_OF(link)->foreign && random_below(random, ++n) == 0)
            found = MACHINE_OF(link);
    }
    return found;
}

/* ---- one trial ---- */

static void add_rule(struct trial *trial)
{
    const struct fault *fault;
    CLEANUP(json_decrefp)
    json_t *rule = json_pack("{s:s, s:s, s:s}", "fault", trial->late ? "failAttach" : "refuse",
                             "disk", volume_disk_name(trial->volume), "code",
                             trial->late ? "DiskProcessingError" : "AttachDiskWhileBeingDetached");

    if (!trial->late)
        json_object_set_new(rule, "kind", json_string("virtualMachines.*"));

    if (faults_add(trial->machine->world->sim->azure->faults, rule, &fault))
        abort();
    trial->rule = fault->id;
}

static bool goes_on(const struct trial *trial)
{
    return world_now(trial->machine->world) < trial->until;
}

static bool is_full(const struct machine *machine)
{
    const struct vm *vm = machine_vm(machine);

    return vm && vm->data_disks.n >= vm->size->max_data_disks;
}

static struct err *carry_out(struct task *self, struct trial *trial)
{
    struct machine *machine = trial->machine;
    struct volume *volume = trial->volume;

    while (goes_on(trial) && volume->phase != VOLUME_BOUND)
        TRY(task_sleep(self, LOOK_MS));
    if (volume->phase != VOLUME_BOUND)
        return NULL;
    add_rule(trial);
    while (goes_on(trial) && !is_full(machine))
        TRY(task_sleep(self, LOOK_MS));
    if (!goes_on(trial) || !suits(machine))
        return NULL;
    coverage_count("refused disk", "wanted", trial->late ? "in the model" : "on a full VM");
    publication_by_hand_on(machine, volume, trial->until - world_now(machine->world));
    while (goes_on(trial))
        TRY(task_sleep(self, LOOK_MS));
    return NULL;
}

static void run(struct task *self, void *arg)
{
    struct trial *trial = arg;
    struct sim *sim = trial->machine->world->sim;
    struct err *err = carry_out(self, trial);

    if (trial->rule)
        faults_remove(sim->azure->faults, trial->rule);
    if (!err) {
        foreign_disks_detach(trial->machine);
        volume_delete(trial->volume);
    }
    err_free(err);
    free(trial);
}

static unsigned free_places(const struct machine *machine)
{
    const struct vm *vm = machine_vm(machine);

    return vm->size->max_data_disks > vm->data_disks.n
               ? (unsigned)(vm->size->max_data_disks - vm->data_disks.n)
               : 0;
}

static void begin(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct machine *machine = any_machine(sim->world, &random);
    if (!machine)
        return;
    CLEANUP(freep) char *claim = mem_printf("refused-%u", ++sim->world->workloads_made);
    struct trial *trial = mem_alloc(sizeof *trial);
    *trial = (struct trial){
        .machine = machine,
        .volume =
            volume_new(sim->world, claim, &(struct volume_wish){.max_shares = 1, .refused = true}),
        .until = world_now(sim->world) + incident->duration_ms};
    trial->late = random_below(&random, 2);
    trial->volume->chosen_zone = (int)machine->zone;
    waiters_wake(&trial->volume->changed);
    foreign_disks_attach(machine, incident, free_places(machine));
    if (!group_spawn(&sim->tasks, "refused disk", run, trial))
        free(trial);
}

static void end(struct sim *sim, const struct incident *incident)
{
    (void)sim, (void)incident;
}

static const struct incident_kind refusal_kinds[] = {
    {"disk-attach-refused", begin, end, 6 * MINUTE_MS, 12 * MINUTE_MS, false},
};

const struct incident_table REFUSAL_INCIDENTS = {.kinds = refusal_kinds,
                                                 .n = COUNT_OF(refusal_kinds)};
