/* VMs of their own, of a uniform scale set and of a flexible one: the same requests by other names.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/vm_spec.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

#define GROUP "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/"

static const struct {
    const char *node, *set, *instance; /* of the simulated VM */
    const char *provider_id;
    const char *changes, *updates; /* the journal's names of its changes */
} kinds[] = {
    {"node", NULL, NULL, "azure://" GROUP "virtualMachines/node",
     "virtualMachines.attachDetachDataDisks", "virtualMachines.update"},
    {"node", NULL, NULL, NULL, "virtualMachines.attachDetachDataDisks", "virtualMachines.update"},
    {"flex_1a2b", "flex", NULL, "AZURE://" GROUP "virtualMachines/FLEX_1a2b",
     "virtualMachines.attachDetachDataDisks", "virtualMachines.update"},
    {"pool00000b", "pool", "11", "azure://" GROUP "virtualMachineScaleSets/pool/virtualMachines/11",
     "virtualMachineScaleSetVMs.attachDetachDataDisks", "virtualMachineScaleSetVMs.update"},
};

static void add_vm(struct world *world, size_t i)
{
    CLEANUP(vm_spec_finip)
    struct vm_spec spec = {.name = mem_strdup(kinds[i].node),
                           .size = vm_size_find("Standard_D4s_v5"),
                           .zone = mem_strdup("1"),
                           .scale_set = mem_strdup(kinds[i].set),
                           .instance_id = mem_strdup(kinds[i].instance)};
    struct vm *vm;

    assert_ok(vm_add(world->azure->model, world->azure->model->groups[0], &spec, &vm));
}

static char *id_of(struct world *world, size_t i)
{
    char *id;

    assert_ok(
        world->cloud->ops->instance_id(world->cloud, kinds[i].node, kinds[i].provider_id, &id));
    return id;
}

static size_t slots_of(struct world *world, const char *vm)
{
    struct cloud_instance model = model_of(world, vm);
    size_t n = model.n_slots;

    cloud_instance_fini(&model);
    return n;
}

static const char *const names[] = {"a", "b"};

static void test_each_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct world *world = world_new();

        add_vm(world, i);
        CLEANUP(freep) char *vm = id_of(world, i);
        make_disks(world, names, 2, 1);
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = vm, .disk = "a", .lun = 0}));
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = vm, .disk = "b", .lun = 5}));
        assert_int_equal(slots_of(world, vm), 2);
        assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = vm, .disk = "a"}));
        assert_int_equal(slots_of(world, vm), 1);
        assert_int_equal(calls(world, kinds[i].changes), 3);
        assert_ok(wish(world, (struct wish){.kind = REPAIR, .vm = vm}));
        assert_int_equal(calls(world, kinds[i].updates), 1);
        world_free(world);
    }
}

static void test_each_kind_without_the_action(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct world *world = world_new();

        add_vm(world, i);
        CLEANUP(freep) char *vm = id_of(world, i);
        make_disks(world, names, 2, 1);
        world->network.stand_in = (struct stand_in){
            .text = "attachDetachDataDisks",
            .times = 1,
            .status = 404,
            .body = "{'error': {'code': 'InvalidResourceType', 'message': 'no such type'}}"};
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = vm, .disk = "a", .lun = 0}));
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = vm, .disk = "b", .lun = 5}));
        assert_int_equal(slots_of(world, vm), 2);
        assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = vm, .disk = "a"}));
        assert_int_equal(slots_of(world, vm), 1);
        assert_int_equal(calls(world, kinds[i].updates), 3);
        world_free(world);
    }
}

/* Which has neither the action nor toBeDetached: neither is tried. */
static void test_an_azure_stack_takes_lists(void **state)
{
    struct world *world = world_new();

    (void)state;
    azure_cloud_free(world->cloud);
    world->config.azure_stack = true;
    world->cloud = azure_cloud_new(&world->group, &world->config, NULL, &world->network.transport,
                                   world->network.inner);
    make_disks(world, names, 2, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1}));
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a"}));
    CLEANUP(freep) char *body = json_dumps(world->network.last_body, 0);
    assert_null(strstr(body, "toBeDetached\": true"));
    assert_int_equal(slots_of(world, VM("vm1")), 1);
    assert_int_equal(calls(world, CHANGES), 0);
    assert_int_equal(calls(world, "virtualMachines.update"), 3);
    world_free(world);
}

static void test_other_peoples_ids(void **state)
{
    static const char *const ids[] = {"aws:///us-east-1a/i-0",
                                      "azure://elsewhere",
                                      "kind://node",
                                      "azure://" VM("vm1") "?api-version=1&x=",
                                      "azure://" VM("..") "/../disks/d",
                                      "azure://" VM("vm1#")};
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        char *id;
        CLEANUP(err_freep)
        struct err *err = world->cloud->ops->instance_id(world->cloud, "node", ids[i], &id);

        assert_int_equal(err_kind(err), ERR_INVALID);
        assert_non_null(strstr(err_message(err), ids[i]));
    }
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_each_kind_without_the_action),
        cmocka_unit_test(test_an_azure_stack_takes_lists),
        cmocka_unit_test(test_other_peoples_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
