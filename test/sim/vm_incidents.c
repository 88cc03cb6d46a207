/* VM_INCIDENTS: VMs that Azure cannot change as it is asked to, for reasons that lie in the VM. */

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/operation.h"
#include "test/sim/world.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, CARE_MS = 3 * MINUTE_MS };

static bool suits(const struct machine *machine)
{
    return !machine->struck && machine->up && !machine->cut && !machine->retired &&
           machine->registered && !machine->rule;
}

static struct machine *any_machine(struct sim *sim, const struct incident *incident,
                                   struct random *random)
{
    struct machine *found = NULL;
    unsigned n = 0;

    sim_choices(incident, random);
    LIST_FOREACH(&sim->world->machines, link) {
        if (suits(MACHINE_OF(link)) && random_below(random, ++n) == 0)
            found = MACHINE_OF(link);
    }
    return found;
}

/* Of attaches, detaches and updates of its VM. */
static void add_rule(struct machine *machine, const char *fault, const char *code)
{
    CLEANUP(json_decrefp)
    json_t *rule = json_pack("{s:s, s:s, s:s, s:s*}", "fault", fault, "kind", "vm[AU]*", "resource",
                             machine->name, "code", code);
    const struct fault *added;

    if (faults_add(machine->world->sim->azure->faults, rule, &added))
        abort();
    machine->rule = added->id;
}

/* ---- lost, with what it has ---- */

struct loss {
    struct machine *machine;
    const struct incident *incident;
    uint64_t after_ms;
};

/* Somebody makes sure that it is off, and says so. */
static void take_care(struct task *self, void *arg)
{
    struct loss *loss = arg;
    struct machine *machine = loss->machine;
    struct err *err = task_sleep(self, loss->after_ms);

    if (!err && machine->struck == loss->incident && !machine->ready)
        machine_set_out_of_service(machine, true);
    err_free(err);
    free(loss);
}

/* No change of its VM ends, but what does not need the host. Azure does not know why. */
static void lose_with_disks(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = any_machine(sim, incident, &random);

    if (!machine)
        return;
    machine->struck = incident;
    add_rule(machine, "stick", NULL);
    machine_lose_host(machine);
    struct loss *loss = mem_alloc(sizeof *loss);
    *loss = (struct loss){machine, incident, MINUTE_MS + random_below(&random, CARE_MS)};
    if (!group_spawn(&sim->tasks, incident->kind->name, take_care, loss))
        free(loss);
}

static void bring_back(struct machine *machine)
{
    struct model *azure = machine->world->sim->azure;

    faults_remove(azure->faults, machine->rule);
    operations_release(azure, machine->rule);
    machine->rule = 0;
    machine->struck = NULL;
    machine_set_out_of_service(machine, false);
    if (!machine->retired)
        machine_power_on(machine);
}

static void end_of_loss(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        if (MACHINE_OF(link)->struck == incident)
            bring_back(MACHINE_OF(link));
    }
}

/* ---- an extension that does not work ---- */

/* Nobody mends it: whatever is done with the VM fails for its sake, and is done. */
static void break_extension(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = any_machine(sim, incident, &random);

    if (!machine)
        return;
    add_rule(machine, "failWhenDone",
             random_below(&random, 2) ? "VMExtensionProvisioningError"
                                      : "VMExtensionProvisioningTimeout");
    sim->something_endless = true;
}

/* clang-format off */
static const struct incident_kind vm_kinds[] = {
    {"vm-withholds-disks", lose_with_disks, end_of_loss, 20 * MINUTE_MS, 40 * MINUTE_MS, true},
    {"vm-extension-broken", break_extension, NULL, 0, 0, true},
};
/* clang-format on */

const struct incident_table VM_INCIDENTS = {.kinds = vm_kinds, .n = COUNT_OF(vm_kinds)};
