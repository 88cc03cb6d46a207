/* What is sent to change a VM's disks where the list is written as a whole: whatever is not in the
 * list leaves the VM, so nothing may be written over what was not read. */
#include "provisioner-lib/azure/vm_update.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"
#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#define VM RESOURCES "virtualMachines/v"
#define INSTANCE RESOURCES "virtualMachineScaleSets/s/virtualMachines/1"
#define DISK(name) RESOURCES "disks/" name
#define ETAG "\"\\\"7\\\"\""

/* With members of which the driver knows nothing. */
#define KEPT                                                                                       \
    "{\"lun\": 0, \"name\": \"other\", \"caching\": \"ReadOnly\", \"diskSizeGB\": 10, "            \
    "\"managedDisk\": {\"id\": \"" DISK("other") "\", \"storageAccountType\": \"P\"}}"
#define LEAVING "{\"lun\": 1, \"name\": \"old\", \"managedDisk\": {\"id\": \"" DISK("OLD") "\"}}"
#define VM_OF(disks)                                                                               \
    "{\"etag\": " ETAG                                                                             \
    ", \"properties\": {\"storageProfile\": {\"osDisk\": {}, \"dataDisks\": " disks "}}}"

static const struct vm_attach attach = {DISK("new"), 2, CACHING_NONE, false};
static const struct vm_detach detach = {DISK("old"), false};

struct sending {
    struct scripted_arm *scripted;
    const char *vm;
    enum vm_update_way way;
    bool accelerated, forced;
    struct err *err;
    bool ended;
};

static void run(struct task *self, void *arg)
{
    struct sending *sending = arg;
    struct vm_attach wanted = attach;
    struct vm_detach unwanted = detach;
    const struct vm_update update = {
        .attach = &wanted, .n_attach = 1, .detach = &unwanted, .n_detach = 1};

    wanted.write_accelerator = sending->accelerated;
    unwanted.forced = sending->forced;
    sending->err =
        vm_update_send(self, sending->scripted->arm, sending->vm, &update, &sending->way);
    sending->ended = true;
}

static struct err *send_so(struct scripted_arm *scripted, struct sending sending)
{
    sending.scripted = scripted;
    loop_spawn(scripted->loop, "sending", run, &sending);
    loop_advance(scripted->loop, 10 * 1000);
    assert_true(sending.ended);
    return sending.err;
}

static struct err *send(struct scripted_arm *scripted, const char *vm, enum vm_update_way way)
{
    return send_so(scripted, (struct sending){.vm = vm, .way = way});
}

/* The requests but those for end points. */
static const struct sent *sent_to_vm(const struct scripted_arm *scripted, size_t *ret_n)
{
    const struct sent *first = scripted->sent;

    *ret_n = scripted->n_sent;
    while (*ret_n > 0 && strstr(first->url, "/metadata/endpoints")) {
        first++;
        (*ret_n)--;
    }
    return first;
}

static void expect_list(const struct sent *sent, const char *list)
{
    json_t *body = json_loads(sent->body, 0, NULL), *expected = json_of(list);
    const json_t *profile = json_object_get(json_object_get(body, "properties"), "storageProfile");

    if (!json_equal(json_object_get(profile, "dataDisks"), expected))
        fail_msg("sent %s instead of %s", sent->body, list);
    assert_int_equal(json_object_size(body), 1);
    assert_int_equal(json_object_size(profile), 1);
    json_decref(body);
    json_decref(expected);
}

#define NEW                                                                                        \
    "{\"lun\": 2, \"name\": \"new\", \"createOption\": \"Attach\", \"caching\": \"None\", "        \
    "\"managedDisk\": {\"id\": \"" DISK("new") "\"}}"

static void test_a_list_goes_back_on_the_condition_that_it_is_the_same(void **state)
{
    static const struct {
        const char *vm, *method;
        enum vm_update_way way;
        const char *list;
    } cases[] = {
        {VM, "PATCH", VM_UPDATE_BY_LIST,
         "[" KEPT ", {\"lun\": 1, \"name\": \"old\", \"toBeDetached\": true, "
         "\"managedDisk\": {\"id\": \"" DISK("OLD") "\"}}, " NEW "]"},
        {VM, "PATCH", VM_UPDATE_BY_SHORT_LIST, "[" KEPT ", " NEW "]"},
        {INSTANCE, "PUT", VM_UPDATE_BY_SHORT_LIST, "[" KEPT ", " NEW "]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct line script[] = {
            {AUTHORITY},
            {cases[i].vm, 1, 200, {NULL}, VM_OF("[" KEPT ", " LEAVING "]")},
            {cases[i].vm, 1, 200, {NULL}, "{}"},
            {0}};
        struct scripted_arm *scripted = scripted_arm_new("", script);
        size_t n;

        assert_ok(send(scripted, cases[i].vm, cases[i].way));
        const struct sent *sent = sent_to_vm(scripted, &n);
        assert_int_equal(n, 2);
        assert_null(sent[0].if_match);
        assert_string_equal(sent[1].method, cases[i].method);
        assert_non_null(sent[1].if_match);
        assert_string_equal(sent[1].if_match, "\"7\"");
        expect_list(&sent[1], cases[i].list);
        scripted_arm_free(scripted);
    }
}

#define DENIED(action)                                                                             \
    "{\"error\": {\"code\": \"AuthorizationFailed\", \"message\": \"The client 'c' with object "   \
    "id 'o' "                                                                                      \
    "does not have authorization to perform action 'Microsoft.Compute/virtualMachines/" action     \
    "' over scope '/s' or the scope is invalid.\"}}"

/* As with the role that is published for version 1; a complete one is used as soon as there is. */
static void test_an_identity_that_may_not_use_the_action(void **state)
{
    const struct line script[] = {
        {AUTHORITY},
        {VM "/attachDetachDataDisks", 1, 403, {NULL}, DENIED("attachDetachDataDisks/action")},
        {VM, 1, 200, {NULL}, VM_OF("[" LEAVING "]")},
        {VM, 1, 200, {NULL}, "{}"},
        {VM "/attachDetachDataDisks", 1, 200, {NULL}, "{}"},
        {VM "/attachDetachDataDisks", 1, 403, {NULL}, DENIED("write")},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    size_t n;

    (void)state;
    assert_ok(send(scripted, VM, VM_UPDATE_BY_ACTION));
    (void)sent_to_vm(scripted, &n);
    assert_int_equal(n, 3);
    assert_ok(send(scripted, VM, VM_UPDATE_BY_ACTION));
    CLEANUP(err_freep) struct err *denied = send(scripted, VM, VM_UPDATE_BY_ACTION);
    assert_int_equal(err_kind(denied), ERR_DENIED);
    scripted_arm_free(scripted);
}

static void test_the_write_accelerator_is_asked_for(void **state)
{
    static const struct line by_list[] = {
        {AUTHORITY}, {VM, 1, 200, {NULL}, VM_OF("[" LEAVING "]")}, {VM, 1, 200, {NULL}, "{}"}, {0}};
    struct scripted_arm *scripted = scripted_arm_new("", by_list);
    size_t n;

    (void)state;
    assert_ok(send_so(
        scripted, (struct sending){.vm = VM, .way = VM_UPDATE_BY_SHORT_LIST, .accelerated = true}));
    expect_list(
        &sent_to_vm(scripted, &n)[1],
        "[{\"lun\": 2, \"name\": \"new\", \"createOption\": \"Attach\", \"caching\": \"None\", "
        "\"managedDisk\": {\"id\": \"" DISK("new") "\"}, \"writeAcceleratorEnabled\": true}]");
    scripted_arm_free(scripted);
}

static void expect_forced(enum vm_update_way way, const struct line *script, const char *text)
{
    struct scripted_arm *scripted = scripted_arm_new("", script);
    size_t n;

    assert_ok(send_so(scripted, (struct sending){.vm = VM, .way = way, .forced = true}));
    const struct sent *sent = sent_to_vm(scripted, &n);
    if (!strstr(sent[n - 1].body, text))
        fail_msg("%s is not in %s", text, sent[n - 1].body);
    scripted_arm_free(scripted);
}

static void test_a_disk_goes_by_force(void **state)
{
    static const struct line by_list[] = {{AUTHORITY},
                                          {VM, 1, 200, {NULL}, VM_OF("[" LEAVING "]")},
                                          {VM, 1, 200, {NULL}, "{}"},
                                          {0}},
                             by_action[] = {{AUTHORITY},
                                            {VM "/attachDetachDataDisks", 1, 200, {NULL}, "{}"},
                                            {0}};

    (void)state;
    expect_forced(VM_UPDATE_BY_ACTION, by_action,
                  "{\"diskId\":\"" DISK("old") "\",\"detachOption\":\"ForceDetach\"}");
    expect_forced(VM_UPDATE_BY_LIST, by_list,
                  "\"toBeDetached\":true,\"detachOption\":\"ForceDetach\"");
}

/* Which the model keeps for a disk that has not gone. */
static void test_force_is_asked_for_once(void **state)
{
    static const struct line by_list[] = {
        {AUTHORITY},
        {VM,
         1,
         200,
         {NULL},
         VM_OF("[{\"lun\": 1, \"name\": \"old\", \"detachOption\": \"ForceDetach\", "
               "\"managedDisk\": {\"id\": \"" DISK("OLD") "\"}}]")},
        {VM, 1, 200, {NULL}, "{}"},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", by_list);
    size_t n;

    (void)state;
    assert_ok(send(scripted, VM, VM_UPDATE_BY_LIST));
    assert_null(strstr(sent_to_vm(scripted, &n)[1].body, "ForceDetach"));
    scripted_arm_free(scripted);
}

/* What somebody else has attached meanwhile is not in the list that was read. */
static void test_a_list_that_has_changed_meanwhile_is_not_written(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        {VM, 1, 200, {NULL}, VM_OF("[" LEAVING "]")},
        {VM, 1, 412, {NULL}, "{\"error\": {\"code\": \"PreconditionFailed\", \"message\": \"m\"}}"},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    size_t n;

    (void)state;
    assert_fails(send(scripted, VM, VM_UPDATE_BY_LIST), ERR_CONFLICT,
                 "PATCH " VM ": PreconditionFailed: m (HTTP 412)");
    sent_to_vm(scripted, &n);
    assert_int_equal(n, 2); /* who asked has to look again */
    scripted_arm_free(scripted);
}

static void test_without_a_list_none_is_written(void **state)
{
    static const char *const answers[] = {
        "",
        "{}",
        "{\"etag\": " ETAG ", \"properties\": {}}",
        "{\"etag\": " ETAG ", \"properties\": {\"storageProfile\": {\"osDisk\": {}}}}",
        VM_OF("null"),
        VM_OF("{}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        const struct line script[] = {{AUTHORITY}, {VM, 0, 200, {NULL}, answers[i]}, {0}};
        struct scripted_arm *scripted = scripted_arm_new("", script);
        size_t n;

        assert_fails(send(scripted, VM, VM_UPDATE_BY_LIST), ERR_UNAVAILABLE,
                     "GET " VM ": the VM has no list of disks");
        sent_to_vm(scripted, &n);
        assert_int_equal(n, 1);
        scripted_arm_free(scripted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_goes_back_on_the_condition_that_it_is_the_same),
        cmocka_unit_test(test_an_identity_that_may_not_use_the_action),
        cmocka_unit_test(test_the_write_accelerator_is_asked_for),
        cmocka_unit_test(test_a_disk_goes_by_force),
        cmocka_unit_test(test_force_is_asked_for_once),
        cmocka_unit_test(test_a_list_that_has_changed_meanwhile_is_not_written),
        cmocka_unit_test(test_without_a_list_none_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
