/* VM_INCIDENTS: VMs that Azure cannot change as it is asked to, for reasons that lie in the VM. */

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/operation.h"
#include "test/sim/machine_loss.h"
#include "test/sim/world.h"

enum { MINUTE_MS = 60 * 1000, CARE_MS = 30 * MINUTE_MS };

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

static void remove_rule(struct machine *machine)
{
    struct model *azure = machine->world->sim->azure;

    if (!machine->rule)
        return;
    faults_remove(azure->faults, machine->rule);
    operations_release(azure, machine->rule);
    machine->rule = 0;
}

/* ---- lost, with what it has ---- */

/* No change of its VM ends, but what does not need the host. Azure does not know why. */
static void lose_with_disks(struct sim *sim, const struct incident *incident)
{
    struct random random;
    struct machine *machine = machine_strike(sim, incident, &random);

    if (!machine)
        return;
    remove_rule(machine); /* of what has broken its extension */
    add_rule(machine, "stick", NULL);
    machine_lose_host(machine);
    machine_send_for_care(machine, MINUTE_MS + random_below(&random, CARE_MS));
}

static void end_of_loss(struct sim *sim, const struct incident *incident)
{
    LIST_FOREACH(&sim->world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->struck != incident)
            continue;
        remove_rule(machine);
        machine_bring_back(machine);
    }
}

/* ---- an extension that does not work ---- */

/* Nobody mends it: whatever is done with the VM fails for its sake, and is done. */
static void break_extension(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    struct machine *machine = machine_any_whole(sim->world, &random);
    if (!machine || machine->rule)
        return;
    add_rule(machine, "failWhenDone",
             random_below(&random, 2) ? "VMExtensionProvisioningError"
                                      : "VMExtensionProvisioningTimeout");
    sim->something_endless = true;
}

/* clang-format off */
static const struct incident_kind vm_kinds[] = {
    {"vm-withholds-disks", lose_with_disks, end_of_loss, 20 * MINUTE_MS, 50 * MINUTE_MS, true},
    {"vm-extension-broken", break_extension, NULL, 0, 0, true},
};
/* clang-format on */

const struct incident_table VM_INCIDENTS = {.kinds = vm_kinds, .n = COUNT_OF(vm_kinds)};
