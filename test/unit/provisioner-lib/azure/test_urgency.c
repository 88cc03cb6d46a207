/* Whose request goes first when Azure takes no more for a while. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

/* Azure takes 250 reads of a subscription at once, then 25 in a second; 200 writes, then 10. */
enum { LOOKS = 600, LAST_LOOK_MS = 13 * 1000, CHANGES_AT_ONCE = 200, MORE_CHANGES = 150 };

enum { SOON_MS = 3000 };

static const char *const one_disk[] = {"a"};

/* Of as many VMs, which Azure does not have: that is an answer, too. */
struct crowd {
    struct wish wishes[LOOKS];
    char vms[LOOKS][160];
    size_t n;
};

static struct crowd *begin_crowd(struct world *world, size_t n, struct wish one)
{
    struct crowd *crowd = mem_alloc(sizeof *crowd);

    crowd->n = n;
    for (size_t i = 0; i < n; i++) {
        snprintf(crowd->vms[i], sizeof crowd->vms[i], VM("x%zu"), i);
        crowd->wishes[i] = one;
        crowd->wishes[i].vm = crowd->vms[i];
        crowd->wishes[i].disk = strrchr(crowd->vms[i], '/') + 1;
        begin(world, &crowd->wishes[i]);
    }
    loop_advance(world->azure->loop, 100);
    return crowd;
}

/* How long it took all of them. */
static uint64_t end_crowd(struct world *world, struct crowd *crowd, uint64_t since)
{
    uint64_t last = 0;

    finish(world, crowd->wishes, crowd->n);
    for (size_t i = 0; i < crowd->n; i++) {
        last = crowd->wishes[i].ended_at > last ? crowd->wishes[i].ended_at : last;
        assert_int_equal(err_kind(crowd->wishes[i].err), ERR_NOT_FOUND);
        err_free(crowd->wishes[i].err);
    }
    free(crowd);
    return last - since;
}

static void test_a_primary_is_looked_for_before_all_others(void **state)
{
    struct world *world = world_new();
    struct wish primary = {.kind = LOOK, .vm = VM("vm1"), .urgency = CLOUD_FOR_PRIMARY};

    (void)state;
    make_disks(world, one_disk, 1, 1); /* there is a token */
    uint64_t since = now_of(world);
    struct crowd *looks =
        begin_crowd(world, LOOKS, (struct wish){.kind = LOOK, .urgency = CLOUD_AUDIT});
    begin(world, &primary);
    finish(world, &primary, 1);
    assert_ok(primary.err);
    cloud_instance_fini(&primary.instance);
    assert_in_range(primary.ended_at - since, 0, SOON_MS);
    assert_in_range(end_crowd(world, looks, since), LAST_LOOK_MS, UINT32_MAX);
    world_free(world);
}

/* One read serves both: it is as urgent as the more urgent of them. */
static void test_a_primary_that_joins_a_look_hurries_it(void **state)
{
    struct world *world = world_new();
    struct wish both[] = {{.kind = LOOK, .vm = VM("vm1"), .urgency = CLOUD_AUDIT},
                          {.kind = LOOK, .vm = VM("vm1"), .urgency = CLOUD_FOR_PRIMARY}};

    (void)state;
    make_disks(world, one_disk, 1, 1);
    uint64_t since = now_of(world);
    struct crowd *looks =
        begin_crowd(world, LOOKS, (struct wish){.kind = LOOK, .urgency = CLOUD_AUDIT});
    begin(world, &both[0]);
    loop_advance(world->azure->loop, 1000);
    assert_false(both[0].ended);
    begin(world, &both[1]);
    finish(world, both, COUNT_OF(both));
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        assert_ok(both[i].err);
        cloud_instance_fini(&both[i].instance);
        assert_in_range(both[i].ended_at - since, 0, SOON_MS);
    }
    end_crowd(world, looks, since);
    assert_int_equal(calls(world, "virtualMachines.get"), LOOKS + 1);
    world_free(world);
}

/* The VM's queue waits for its turn with what is asked for first; what comes then may be more
 * urgent. */
static void test_a_primary_that_joins_a_queue_hurries_it(void **state)
{
    struct world *world = world_new();
    struct wish first = {.kind = DETACH, .vm = VM("vm1"), .disk = "b", .urgency = CLOUD_COLLECTION};
    struct wish primary = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    make_disks(world, one_disk, 1, 1);
    assert_ok(latencies_set(&world->azure->model->latencies, "attach=1s"));
    uint64_t since = now_of(world);
    struct crowd *changes = begin_crowd(world, CHANGES_AT_ONCE + MORE_CHANGES,
                                        (struct wish){.kind = DETACH, .urgency = CLOUD_IN_THE_WAY});
    begin(world, &first);
    loop_advance(world->azure->loop, 1000);
    begin(world, &primary);
    finish(world, &primary, 1);
    assert_ok(primary.err);
    assert_in_range(primary.ended_at - since, 0, 2 * SOON_MS);
    finish(world, &first, 1);
    err_free(first.err);
    end_crowd(world, changes, since);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_primary_is_looked_for_before_all_others),
        cmocka_unit_test(test_a_primary_that_joins_a_look_hurries_it),
        cmocka_unit_test(test_a_primary_that_joins_a_queue_hurries_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
