/* VMs of which Azure does not say how many disks they can have: what is guessed refuses nothing,
 * and what Azure refuses is remembered. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/vm_spec.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static const struct stand_in no_list = {
    .text = "/skus?",
    .times = 1000,
    .status = 403,
    .body = "{'error': {'code': 'AuthorizationFailed', 'message': 'no'}}"};

/* The first is 8 by the table. */
static const struct vm_size roomy = {
    "Standard_D4s_v5", "f", 4, "16", 10, true, "SCSI"}; /* as Azure has it by now */
static const struct vm_size tiny = {"Standard_D4s_v5", "f", 4, "16", 3, true, "SCSI"};
static const struct vm_size unheard_of = {"Standard_Q4s_v1", "f", 4, "16", 3, true, "SCSI"};

static void add_vm(struct world *world, const char *name, const struct vm_size *size)
{
    CLEANUP(vm_spec_finip)
    struct vm_spec spec = {.name = mem_strdup(name), .size = size, .zone = mem_strdup("1")};
    struct vm *vm;

    assert_ok(vm_add(world->azure->model, world->azure->model->groups[0], &spec, &vm));
}

static struct world *world_without_list(void)
{
    static const char *const disks[] = {"d0", "d1", "d2", "d3", "d4", "d5",
                                        "d6", "d7", "d8", "d9", "d10"};
    struct world *world = world_new();

    world->network.stand_in = no_list;
    make_disks(world, disks, COUNT_OF(disks), 1);
    return world;
}

static struct err *attach(struct world *world, const char *vm, int n)
{
    CLEANUP(freep) char *disk = mem_printf("d%d", n);

    return wish(world, (struct wish){.kind = ATTACH, .vm = vm, .disk = disk, .lun = n});
}

static void assert_limit(struct world *world, const char *vm, int most, enum cloud_source source)
{
    CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, vm);

    assert_int_equal(model.max_disks, most);
    assert_int_equal(model.max_disks_from, source);
}

#define REFUSAL                                                                                    \
    "OperationNotAllowed: The maximum number of data disks allowed to be attached to a VM of "     \
    "this size is 10."

static void test_the_table_refuses_nothing(void **state)
{
    struct world *world = world_without_list();

    (void)state;
    add_vm(world, "roomy", &roomy);
    assert_limit(world, VM("roomy"), 8, CLOUD_BUILT_IN);
    for (int i = 0; i < 10; i++)
        assert_ok(attach(world, VM("roomy"), i));
    assert_limit(world, VM("roomy"), 8, CLOUD_BUILT_IN);

    /* Azure's own refusal counts from then on, and is not asked for again. */
    struct err *err = attach(world, VM("roomy"), 10);
    assert_int_equal(err_kind(err), ERR_EXHAUSTED);
    assert_non_null(strstr(err_message(err), REFUSAL));
    err_free(err);
    assert_limit(world, VM("roomy"), 10, CLOUD_REFUSED);
    int asked = calls(world, CHANGES);
    assert_fails(attach(world, VM("roomy"), 10), ERR_EXHAUSTED,
                 "all 10 disk slots of " VM("roomy") " are taken");
    assert_int_equal(calls(world, CHANGES), asked);
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("roomy"), .disk = "d0"}));
    assert_ok(attach(world, VM("roomy"), 10));
    world_free(world);
}

static void test_what_one_vm_was_refused_counts_for_its_size(void **state)
{
    struct world *world = world_without_list();

    (void)state;
    add_vm(world, "one", &tiny);
    add_vm(world, "two", &tiny);
    assert_limit(world, VM("two"), 8, CLOUD_BUILT_IN);
    for (int i = 0; i < 3; i++)
        assert_ok(attach(world, VM("one"), i));
    err_free(attach(world, VM("one"), 3));
    assert_limit(world, VM("one"), 3, CLOUD_REFUSED);
    assert_limit(world, VM("two"), 3, CLOUD_REFUSED);
    add_vm(world, "three", &tiny);
    assert_limit(world, VM("three"), 3, CLOUD_REFUSED);
    world_free(world);
}

static void test_a_size_that_nobody_knows(void **state)
{
    struct world *world = world_without_list();

    (void)state;
    add_vm(world, "new", &unheard_of);
    assert_limit(world, VM("new"), CLOUD_MOST_SLOTS, CLOUD_UNKNOWN);
    for (int i = 0; i < 3; i++)
        assert_ok(attach(world, VM("new"), i));
    assert_limit(world, VM("new"), CLOUD_MOST_SLOTS, CLOUD_UNKNOWN);
    err_free(attach(world, VM("new"), 3));
    assert_limit(world, VM("new"), 3, CLOUD_REFUSED);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_refuses_nothing),
        cmocka_unit_test(test_what_one_vm_was_refused_counts_for_its_size),
        cmocka_unit_test(test_a_size_that_nobody_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
