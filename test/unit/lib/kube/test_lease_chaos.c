/* Three candidates for one lease under random faults: requests and answers are lost, broken and
 * slow, processes die, stop and go on, release and come back, the server goes away for a while,
 * others touch the object. At every moment at most one of them holds the lease; when all is quiet
 * again, one of them does. */
#include "test/unit/expect.h"
#include "test/unit/lib/kube/lease_world.h"

enum { SEEDS = 80, MINUTE = 60 * 1000 };

static unsigned percent_of_faults;
static uint64_t away_until; /* the server, by the world's time */

static enum fate random_fate(struct world *world, const struct candidate *from, const char *method)
{
    (void)from, (void)method;
    if (world->now < away_until)
        return random_below(&world->random, 2) ? REFUSED : REQUEST_LOST;
    if (random_below(&world->random, 100) >= percent_of_faults)
        return ANSWERED;
    return (enum fate)(REFUSED + random_below(&world->random, ANSWER_BROKEN - REFUSED + 1));
}

static void disturb(struct world *world)
{
    struct candidate *one = &world->candidates[random_below(&world->random, WORLD_CANDIDATES)];

    switch (random_below(&world->random, 8)) {
    case 0:
        if (one->loop)
            candidate_kill(world, one->index);
        break;
    case 1:
        if (one->loop && !one->paused)
            candidate_release(world, one->index);
        break;
    case 2:
    case 3:
        if (one->loop)
            one->paused = !one->paused;
        break;
    case 4:
        if (world->object)
            world_touch(world);
        break;
    case 5:
        away_until = world->now + random_below(&world->random, 25 * 1000);
        break;
    default:
        if (!one->loop)
            candidate_start(world, (unsigned)(one - world->candidates));
    }
}

/* A program that lost its lease ends, and is started anew. */
static void restart_losers(struct world *world)
{
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++) {
        struct candidate *candidate = &world->candidates[i];

        if (!candidate->loop || !candidate->lost || candidate->paused)
            continue;
        candidate_kill(world, i);
        candidate_start(world, i);
    }
}

static bool one_holds(const struct world *world)
{
    return world_holders(world) == 1;
}

static void quiet(struct world *world)
{
    percent_of_faults = 0;
    away_until = 0;
    world->most_delay_ms = 10;
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++) {
        world->candidates[i].paused = false;
        if (!world->candidates[i].loop)
            candidate_start(world, i);
    }
    world_run(world, MINUTE);
    restart_losers(world);
}

static unsigned changes_of_holder;

static void run(uint64_t seed)
{
    struct world world;
    unsigned holder = WORLD_CANDIDATES;

    world_init(&world, seed);
    world.fate = random_fate;
    world.most_delay_ms = seed % 3 ? 50 : 4000;
    percent_of_faults = (unsigned)(seed % 5) * 15;
    for (unsigned i = 0; i < WORLD_CANDIDATES; i++)
        candidate_start(&world, i);
    for (int i = 0; i < 30; i++) {
        world_run(&world, random_below(&world.random, 20 * 1000));
        restart_losers(&world);
        disturb(&world);
        for (unsigned k = 0; k < WORLD_CANDIDATES; k++)
            if (candidate_holds(&world, k) && k != holder) {
                holder = k;
                changes_of_holder++;
            }
    }
    quiet(&world);
    assert_true(world_run_until(&world, MINUTE, one_holds));
    world_run(&world, MINUTE);
    assert_true(one_holds(&world));
    world_fini(&world);
}

static uint64_t running;

static void test_never_two(void **state)
{
    (void)state;
    for (running = 1; running <= SEEDS; running++)
        run(running);
    assert_true(changes_of_holder > SEEDS); /* or nothing much was tried */
}

static int tell_seed(void **state)
{
    (void)state;
    if (running <= SEEDS)
        print_error("seed %u\n", (unsigned)running);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_never_two, tell_seed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
