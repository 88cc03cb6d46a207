#include "test/sim/silent_count.h"

#include "test/sim/node_lease.h"
#include "test/sim/volume.h"
#include "test/sim/world.h"

enum {
    TOGETHER_MS = 10 * 60 * 1000,
    MOST_SKEW_MS = 10 * 1000, /* of two clocks */
    /* The driver takes 55. */
    SURELY_LOST_PERCENT = 70,
    MAYBE_LOST_PERCENT = 45,
    PERCENT = 100,
};

struct tally {
    unsigned heard, silent, cut;
};

bool silent_count_expects(const struct machine *machine)
{
    return !machine->given_up && node_lease_is_held(machine) &&
           !(machine_is_connected(machine) && machine_serves(machine));
}

static bool is_silent_with(const struct machine *machine, const struct machine *other)
{
    return silent_count_expects(other) &&
           other->lease_renewed + TOGETHER_MS + MOST_SKEW_MS >= machine->lease_renewed;
}

static bool is_cut_with(const struct machine *machine, const struct machine *other)
{
    uint64_t renewed = machine->silent_since - node_lease_renewal_ms(machine->world->sim);

    return silent_count_expects(other) && other->cut &&
           other->silent_since == machine->silent_since && other->lease_renewed >= renewed;
}

static void count(const struct machine *machine, struct tally zones[WORLD_ZONES])
{
    LIST_FOREACH(&machine->world->machines, link) {
        const struct machine *other = MACHINE_OF(link);
        struct tally *zone = &zones[other->zone % WORLD_ZONES];

        zone->heard +=
            node_lease_is_held(other) && !other->given_up && !silent_count_expects(other);
        zone->silent += is_silent_with(machine, other);
        zone->cut += is_cut_with(machine, other);
    }
}

static bool is_lost(const struct tally *zone, unsigned percent)
{
    return zone->silent * PERCENT > (zone->heard + zone->silent) * percent;
}

/* Of zones with a machine of which somebody expects to hear. */
static bool are_few_lost(const struct tally zones[WORLD_ZONES], unsigned percent)
{
    unsigned n = 0, n_lost = 0;

    for (int i = 0; i < WORLD_ZONES; i++) {
        n += zones[i].heard + zones[i].silent > 0;
        n_lost += is_lost(&zones[i], percent);
    }
    return 2 * n_lost <= n;
}

unsigned silent_count_with(const struct machine *machine)
{
    struct tally zones[WORLD_ZONES] = {0};
    unsigned n = 0;

    count(machine, zones);
    bool few = are_few_lost(zones, MAYBE_LOST_PERCENT); /* else the driver may count all */
    for (int i = 0; i < WORLD_ZONES; i++)
        n += few && is_lost(&zones[i], SURELY_LOST_PERCENT) ? 0 : zones[i].silent;
    return n;
}

unsigned silent_count_cut_with(const struct machine *machine)
{
    struct tally zones[WORLD_ZONES] = {0};
    unsigned n = 0;

    count(machine, zones);
    bool few = are_few_lost(zones, SURELY_LOST_PERCENT);
    for (int i = 0; i < WORLD_ZONES; i++)
        n += few && is_lost(&zones[i], MAYBE_LOST_PERCENT) ? 0 : zones[i].cut;
    return n;
}
