/* Which answers of Azure say that a VM surely does not run. */
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

#define INSTANCE                                                                                   \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/"               \
    "virtualMachineScaleSets/pool/virtualMachines/3"

struct question {
    struct world *world;
    const char *vm;
    enum cloud_power power;
    bool ended;
    struct err *err;
};

static void run_question(struct task *self, void *arg)
{
    struct question *question = arg;
    struct cloud *cloud = question->world->cloud;

    question->err = cloud->ops->instance_power(self, cloud, question->vm, &question->power);
    question->ended = true;
}

static struct question ask_about(struct world *world, const char *vm)
{
    struct question question = {.world = world, .vm = vm};

    loop_spawn(world->azure->loop, "question", run_question, &question);
    for (int second = 0; second < 120 && !question.ended; second++)
        loop_advance(world->azure->loop, 1000);
    assert_true(question.ended);
    return question;
}

/* ---- what azsim says ---- */

static void test_power(void **state)
{
    static const struct {
        enum power power;
        enum cloud_power expected;
    } rows[] = {{POWER_RUNNING, CLOUD_MAY_RUN},
                {POWER_STOPPED, CLOUD_IS_OFF},
                {POWER_DEALLOCATED, CLOUD_IS_OFF},
                {POWER_HIBERNATED, CLOUD_MAY_RUN}};
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        vm_set_power(vm_find_by_name(world->azure->model, "vm1"), rows[i].power);
        struct question question = ask_about(world, VM("vm1"));

        assert_ok(question.err);
        assert_int_equal(question.power, rows[i].expected);
    }
    world_free(world);
}

static void test_a_vm_that_is_gone(void **state)
{
    struct world *world = world_new();
    struct question vm = ask_about(world, VM("gone")), instance = ask_about(world, INSTANCE);

    (void)state;
    assert_ok(vm.err);
    assert_int_equal(vm.power, CLOUD_IS_GONE);
    assert_ok(instance.err);
    assert_int_equal(instance.power, CLOUD_IS_GONE);
    world_free(world);
}

/* ---- what azsim never says ---- */

#define VIEW(statuses)                                                                             \
    "{'name':'vm1','location':'eastus','properties':{'provisioningState':'Succeeded',"             \
    "'instanceView':{'statuses':[{'code':'ProvisioningState/succeeded'}" statuses "]}}}"
#define CODE(text) ",{'code':'" text "'}"

static const struct {
    const char *body;
    bool off;
} views[] = {
    {VIEW(CODE("PowerState/stopped")), true},
    {VIEW(CODE("powerstate/DEALLOCATED")), true},
    {VIEW(CODE("PowerState/starting")), false},
    {VIEW(CODE("PowerState/stopping")), false},
    {VIEW(CODE("PowerState/deallocating")), false},
    {VIEW(CODE("PowerState/unknown")), false},
    {VIEW(""), false},
    /* What it has in memory is written when it goes on. */
    {VIEW(CODE("PowerState/deallocated") CODE("HibernationState/Hibernated")), false},
    {VIEW(CODE("HibernationState/Hibernated") CODE("PowerState/deallocated")), false},
    {VIEW(",{'displayStatus':'VM stopped'}"), false},
    {"{'name':'vm1','location':'eastus','properties':{'provisioningState':'Succeeded'}}", false},
    {"{'name':'vm1','location':'eastus'}", false},
    {"{}", false},
};

static void test_views(void **state)
{
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        world->network.stand_in = (struct stand_in){.text = "expand=instanceView",
                                                    .method = "GET",
                                                    .times = 1,
                                                    .status = 200,
                                                    .body = views[i].body};
        struct question question = ask_about(world, VM("vm1"));

        assert_ok(question.err);
        if (question.power != (views[i].off ? CLOUD_IS_OFF : CLOUD_MAY_RUN))
            fail_msg("%s", views[i].body);
    }
    world_free(world);
}

/* A proxy's 404, a refusal and no answer say nothing of the VM. */
static void test_no_answer(void **state)
{
    static const struct {
        int status;
        const char *body;
    } rows[] = {
        {404, "{}"},
        {404, "{'error':{'code':'SubscriptionNotFound','message':'no'}}"},
        {403, "{'error':{'code':'AuthorizationFailed','message':'no'}}"},
        {500, "{}"},
        {503, "{}"},
        {200, "[]"},
    };
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        world->network.stand_in = (struct stand_in){.text = "expand=instanceView",
                                                    .method = "GET",
                                                    .times = 1,
                                                    .status = rows[i].status,
                                                    .body = rows[i].body};
        struct question question = ask_about(world, VM("vm1"));

        if (!question.err || question.power != CLOUD_MAY_RUN)
            fail_msg("%d %s", rows[i].status, rows[i].body);
        err_free(question.err);
    }
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_a_vm_that_is_gone),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
