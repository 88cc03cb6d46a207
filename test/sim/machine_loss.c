#include "test/sim/machine_loss.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/sim/world.h"

bool machine_is_whole(const struct machine *machine)
{
    return !machine->struck && machine->up && !machine->cut && !machine->retired &&
           machine->registered;
}

struct machine *machine_any_whole(const struct world *world, struct random *random)
{
    struct machine *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&world->machines, link) {
        if (machine_is_whole(MACHINE_OF(link)) && random_below(random, ++n) == 0)
            found = MACHINE_OF(link);
    }
    return found;
}

struct machine *machine_strike(struct sim *sim, const struct incident *incident,
                               struct random *ret_random)
{
    sim_choices(incident, ret_random);
    struct machine *machine = machine_any_whole(sim->world, ret_random);
    if (machine)
        machine->struck = incident;
    return machine;
}

struct care {
    struct machine *machine;
    const struct incident *incident;
    uint64_t after_ms;
};

static void take_care(struct task *self, void *arg)
{
    struct care *care = arg;
    struct machine *machine = care->machine;
    struct err *err = task_sleep(self, care->after_ms);

    if (!err && machine->struck == care->incident && !machine->up && !machine->ready)
        machine_set_out_of_service(machine, true);
    err_free(err);
    free(care);
}

void machine_send_for_care(struct machine *machine, uint64_t after_ms)
{
    struct care *care = mem_alloc(sizeof *care);

    *care = (struct care){machine, machine->struck, after_ms};
    if (!group_spawn(&machine->world->sim->tasks, "care", take_care, care))
        free(care);
}

void machine_bring_back(struct machine *machine)
{
    machine->struck = NULL;
    machine_set_out_of_service(machine, false);
    if (!machine->retired)
        machine_power_on(machine);
}
