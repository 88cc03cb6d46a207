/* Snapshots: what Azure is asked for, and what is taken for one of ours. */
#include "provisioner-lib/azure/disk_snapshot.h"

#include "test/azsim/model/resource.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

#define GROUP_PATH "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute"
#define SNAPSHOT(name) GROUP_PATH "/snapshots/" name
#define TAKEN_AT "2026-01-02T03:04:05.000006Z"
#define TAKEN_US 1767323045000006

static const char *const names[] = {"a", "b"};

enum action { MAKE, COPY, GET, LIST, REMOVE };

struct question {
    struct world *world;
    enum action action;
    const char *name;    /* of the snapshot */
    const char *disk;    /* NULL: "a" */
    const char *cluster; /* NULL: WORLD_CLUSTER */
    const char *source;  /* of a copy: the snapshot */
    struct parameter parameters[4];
    struct cloud_snapshot snapshot;
    struct cloud_snapshots all;
    struct err *err;
    bool ended;
};

static struct err *make(struct task *self, struct question *q)
{
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(freep) char *disk = mem_printf(DISK("%s"), q->disk ? q->disk : "a");
    CLEANUP(freep) char *source = q->source ? mem_printf(SNAPSHOT("%s"), q->source) : NULL;
    struct cloud *cloud = q->world->cloud;
    size_t n = 0;

    while (n < COUNT_OF(q->parameters) && q->parameters[n].name)
        n++;
    TRY(snapshot_parameters_parse(q->parameters, n, &parameters));
    const struct cloud_snapshot_spec spec = {
        .name = q->name,
        .disk_id = disk,
        .parameters = &parameters,
        .creator = {WORLD_DRIVER, q->cluster ? q->cluster : WORLD_CLUSTER},
        .source_id = source,
        .taken_us = TAKEN_US,
    };
    return q->action == COPY ? cloud->ops->snapshot_copy(self, cloud, &spec, &q->snapshot)
                             : cloud->ops->snapshot_create(self, cloud, &spec, &q->snapshot);
}

static void run(struct task *self, void *arg)
{
    struct question *q = arg;
    struct cloud *cloud = q->world->cloud;
    CLEANUP(freep) char *id = mem_printf(SNAPSHOT("%s"), q->name);

    q->err = q->action <= COPY   ? make(self, q)
             : q->action == GET  ? cloud->ops->snapshot_get(self, cloud, id, &q->snapshot)
             : q->action == LIST ? cloud->ops->snapshot_list(self, cloud, id, &q->all)
                                 : cloud->ops->snapshot_delete(self, cloud, id);
    q->ended = true;
}

/* At once, in the clock of Azure's copies, as far as its operations allow that. */
static struct question ask_for(struct world *world, struct question q)
{
    q.world = world;
    loop_spawn(world->azure->loop, "snapshot", run, &q);
    for (int i = 0; i < 90 && !q.ended; i++)
        loop_advance(world->azure->loop, 1000);
    assert_true(q.ended);
    return q;
}

static void forget(struct question *q)
{
    cloud_snapshot_fini(&q->snapshot);
    cloud_snapshots_fini(&q->all);
    err_free(q->err);
}

static void make_slow_disk(struct world *world)
{
    json_decref(ask_json(world->azure, "PUT", "{P}/disks/slow",
                         "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'PremiumV2_LRS'}, "
                         "'properties': {'creationData': {'createOption': 'Empty'}, "
                         "'diskSizeGB': 20}}",
                         202));
    loop_advance(world->azure->loop, 10 * 1000);
}

static const char *sent(const struct world *world, const char *path)
{
    return resource_text(world->network.last_body, path, "(nothing)");
}

static void test_what_is_asked_for(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    struct question q = ask_for(
        world, (struct question){.name = "s",
                                 .parameters = {{"Tags", "a/b=c"},
                                                {"networkaccesspolicy", "denyall"},
                                                {"dataAccessAuthMode", "None"},
                                                {"csi.storage.k8s.io/volumesnapshot/name", "n"}}});
    assert_ok(q.err);
    assert_string_equal(q.snapshot.id, SNAPSHOT("s"));
    assert_string_equal(q.snapshot.disk_id, DISK("a"));
    assert_int_equal(q.snapshot.size_bytes, 10 * GIB);
    assert_true(q.snapshot.ready);
    assert_int_equal(q.snapshot.percent, 100);
    assert_true(q.snapshot.taken_us > 0);
    assert_null(q.snapshot.failure);
    assert_string_equal(q.snapshot.mark.cluster, WORLD_CLUSTER);
    assert_string_equal(sent(world, "properties.creationData.sourceResourceId"), DISK("a"));
    assert_true(json_is_true(resource_get(world->network.last_body, "properties.incremental")));
    assert_string_equal(sent(world, "properties.networkAccessPolicy"), "DenyAll");
    assert_string_equal(sent(world, "properties.dataAccessAuthMode"), "None");
    assert_string_equal(sent(world, "tags.a-b"), "c");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(world->network.last_body, "tags"),
                                          "kubernetes.io-created-for-snapshot-name")),
        "n");
    assert_string_equal(sent(world, "location"), "eastus");
    forget(&q);
    world_free(world);
}

/* An answer that is lost, or a controller that ends, makes no second snapshot, and none with the
 * content of another moment. */
static void test_a_snapshot_is_made_once(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    world->network.lose_answers = 1;
    struct question lost = ask_for(world, (struct question){.name = "s"});
    assert_non_null(lost.err);
    assert_true(err_is_transient(lost.err));
    struct question first = ask_for(world, (struct question){.name = "s"});
    struct question second = ask_for(world, (struct question){.name = "S"});
    assert_ok(first.err);
    assert_ok(second.err);
    assert_int_equal(first.snapshot.taken_us, second.snapshot.taken_us);
    assert_int_equal(calls(world, "snapshots.createOrUpdate"), 1);
    forget(&lost);
    forget(&first);
    forget(&second);
    world_free(world);
}

static void expect_refused(struct world *world, struct question q, enum err_kind kind,
                           const char *text)
{
    q = ask_for(world, q);
    assert_non_null(q.err);
    if (err_kind(q.err) != kind || !strstr(err_message(q.err), text))
        fail_msg("%s: %s", err_kind_reason(err_kind(q.err)), err_message(q.err));
    forget(&q);
}

static void test_what_is_refused(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    make_slow_disk(world);
    struct question q = ask_for(world, (struct question){.name = "s"});
    assert_ok(q.err);
    forget(&q);
    expect_refused(world, (struct question){.name = "s", .disk = "b"}, ERR_EXISTS, "is of disk");
    expect_refused(world, (struct question){.name = "s", .cluster = "another"}, ERR_EXISTS,
                   "already exists, and ");
    expect_refused(world, (struct question){.name = "t", .disk = "none"}, ERR_NOT_FOUND, "none");
    expect_refused(
        world,
        (struct question){.name = "t",
                          .parameters = {{"location", "westus"}, {"incremental", "false"}}},
        ERR_INVALID, "parameter location: westus");
    expect_refused(world, (struct question){.name = "s", .parameters = {{"location", "westus"}}},
                   ERR_EXISTS, "in eastus");
    expect_refused(world, (struct question){.name = "t", .parameters = {{"location", "westus"}}},
                   ERR_BUSY, "has to be copied");
    expect_refused(
        world,
        (struct question){.name = "t", .parameters = {{"instantAccessDurationMinutes", "60"}}},
        ERR_INVALID, "only for UltraSSD_LRS and PremiumV2_LRS");
    expect_refused(
        world,
        (struct question){.name = "t", .disk = "slow", .parameters = {{"incremental", "false"}}},
        ERR_INVALID, "always incremental");
    expect_refused(world, (struct question){.name = "t", .parameters = {{"resourceGroup", "no"}}},
                   ERR_NOT_FOUND, "no");
    assert_int_equal(calls(world, "snapshots.createOrUpdate"), 1);
    world_free(world);
}

/* Its content is there some time after the operation has ended, which says nothing. */
static void test_data_that_is_copied_in_the_background(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_slow_disk(world);
    assert_ok(latencies_set(&world->azure->model->latencies, "copy=60s"));
    struct question made = ask_for(world, (struct question){.name = "s", .disk = "slow"});
    struct question instant =
        ask_for(world, (struct question){.name = "i",
                                         .disk = "slow",
                                         .parameters = {{"instantAccessDurationMinutes", "60"}}});
    assert_ok(made.err);
    assert_false(made.snapshot.ready);
    assert_true(made.snapshot.percent < 100);
    assert_ok(instant.err);
    assert_true(instant.snapshot.ready);
    loop_advance(world->azure->loop, 120 * 1000);
    struct question all = ask_for(world, (struct question){.action = LIST, .name = "s"});
    assert_ok(all.err);
    assert_int_equal(all.all.n, 2);
    assert_true(all.all.items[0].ready);
    assert_int_equal(all.all.items[0].percent, 100);
    forget(&made);
    forget(&instant);
    forget(&all);
    world_free(world);
}

/* Each row is what Azure says of a snapshot, and whether disks can be made from it. */
static void test_readiness(void **state)
{
    static const struct {
        const char *properties;
        bool ready;
        int percent;
        const char *failure; /* NULL: none */
    } rows[] = {
        {"'provisioningState': 'Succeeded'", true, 100, NULL},
        {"'provisioningState': 'Updating'", false, 100, NULL},
        {"'provisioningState': 'Succeeded', 'completionPercent': 99.9", false, 99, NULL},
        {"'provisioningState': 'Succeeded', 'completionPercent': 100.0, "
         "'snapshotAccessState': 'Unknown'",
         true, 100, NULL},
        {"'provisioningState': 'Succeeded', 'completionPercent': 100.0, "
         "'snapshotAccessState': 'Pending'",
         false, 100, NULL},
        {"'provisioningState': 'Succeeded', 'completionPercent': 3.0, "
         "'snapshotAccessState': 'InstantAccess'",
         true, 3, NULL},
        {"'provisioningState': 'Succeeded', 'completionPercent': 40.0, 'copyCompletionError': "
         "{'errorCode': 'CopySourceNotFound', 'errorMessage': 'gone'}",
         false, 40, "CopySourceNotFound: gone"},
    };
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *body =
            mem_printf("{'id': '" SNAPSHOT("s") "', 'properties': {%s}}", rows[i].properties);

        world->network.stand_in = (struct stand_in){
            .text = "/snapshots/s", .method = "GET", .times = 1, .status = 200, .body = body};
        struct question q = ask_for(world, (struct question){.action = GET, .name = "s"});
        assert_ok(q.err);
        if (q.snapshot.ready != rows[i].ready || q.snapshot.percent != rows[i].percent)
            fail_msg("row %zu: ready %d, percent %d", i, q.snapshot.ready, q.snapshot.percent);
        if (rows[i].failure)
            assert_string_equal(q.snapshot.failure, rows[i].failure);
        else
            assert_null(q.snapshot.failure);
        forget(&q);
    }
    world_free(world);
}

/* ---- copies in other regions ---- */

static struct question copy_of(const char *name, const char *source)
{
    return (struct question){.action = COPY,
                             .name = name,
                             .source = source,
                             .parameters = {{"location", "West Europe"}}};
}

static void test_a_copy_in_another_region(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    assert_ok(latencies_set(&world->azure->model->latencies, "copy=600s"));
    struct question local = ask_for(world, (struct question){.name = "s.local"});
    assert_ok(local.err);
    assert_string_equal(local.snapshot.region, "eastus");
    assert_false(local.snapshot.is_copy);
    world->network.lose_answers = 1;
    struct question lost = ask_for(world, copy_of("s", "s.local"));
    struct question copy = ask_for(world, copy_of("s", "s.local"));
    assert_true(lost.err && err_is_transient(lost.err));
    assert_ok(copy.err);
    assert_int_equal(calls(world, "snapshots.createOrUpdate"), 2);
    assert_string_equal(copy.snapshot.id, SNAPSHOT("s"));
    assert_string_equal(copy.snapshot.disk_id, DISK("a"));
    assert_string_equal(copy.snapshot.region, "westeurope");
    assert_true(copy.snapshot.is_copy && copy.snapshot.made && !copy.snapshot.ready);
    assert_true(copy.snapshot.percent < 100);
    assert_true(copy.snapshot.taken_us == TAKEN_US);
    assert_string_equal(sent(world, "location"), "westeurope");
    assert_string_equal(sent(world, "properties.creationData.createOption"), "CopyStart");
    assert_string_equal(sent(world, "properties.creationData.sourceResourceId"),
                        SNAPSHOT("s.local"));
    assert_string_equal(sent(world, "tags.k8s-azure-copy-of-disk"), DISK("a"));
    assert_string_equal(sent(world, "tags.k8s-azure-copy-taken-at"), TAKEN_AT);
    assert_true(json_is_true(resource_get(world->network.last_body, "properties.incremental")));
    forget(&local);
    forget(&lost);
    forget(&copy);
    world_free(world);
}

/* Azure's index is behind: what was put a moment ago cannot be found. It is there all the same, and
 * Azure copies from its source. */
static void test_a_copy_that_cannot_be_found_yet(void **state)
{
    struct world *world = world_new();
    struct stand_in behind = {.text = "/snapshots/t?",
                              .method = "GET",
                              .times = 3,
                              .status = 404,
                              .body = "{'error':{'code':'ResourceNotFound','message':'no t'}}"};

    (void)state;
    make_disks(world, names, 2, 1);
    struct question local = ask_for(world, (struct question){.name = "s.local"});
    assert_ok(local.err);
    world->network.stand_in = behind;
    struct question copy = ask_for(world, copy_of("t", "s.local"));
    assert_ok(copy.err);
    assert_string_equal(copy.snapshot.id, SNAPSHOT("t"));
    assert_int_equal(world->network.stand_in.times, 0);
    assert_int_equal(calls(world, "snapshots.createOrUpdate"), 2);
    behind.text = "/snapshots/u?";
    behind.times = 1000;
    world->network.stand_in = behind;
    expect_refused(world, (struct question){.name = "u", .disk = "b"}, ERR_BUSY,
                   "is still being created");
    forget(&local);
    forget(&copy);
    world_free(world);
}

/* That a disk has a snapshot of the name says nothing of the region. */
static void test_copies_that_are_refused(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    struct question local = ask_for(world, (struct question){.name = "s.local"});
    struct question copy = ask_for(world, copy_of("s", "s.local"));
    struct question there = ask_for(world, (struct question){.name = "there"});
    assert_ok(local.err);
    assert_ok(copy.err);
    assert_ok(there.err);
    expect_refused(world, copy_of("there", "s.local"), ERR_EXISTS, "in eastus");
    expect_refused(world, (struct question){.name = "s"}, ERR_EXISTS, "in westeurope");
    struct question q = copy_of("s", "s.local");
    q.disk = "b";
    expect_refused(world, q, ERR_EXISTS, "is of disk " DISK("a"));
    q = copy_of("s", "s.local");
    q.cluster = "another";
    expect_refused(world, q, ERR_EXISTS, "already exists, and ");
    q = copy_of("s", "s.local");
    q.parameters[0].value = "westus";
    expect_refused(world, q, ERR_EXISTS, "in westeurope");
    q = copy_of("t", "s.local");
    q.parameters[0].value = "mars";
    expect_refused(world, q, ERR_INVALID, "mars");
    expect_refused(world, copy_of("t", "none"), ERR_NOT_FOUND, "none");
    expect_refused(world, copy_of("t", "there"), ERR_BUSY, "whose copy is in progress");
    forget(&local);
    forget(&copy);
    forget(&there);
    world_free(world);
}

static void test_deletion(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    struct question q = ask_for(world, (struct question){.name = "s"});
    assert_ok(q.err);
    forget(&q);
    for (int i = 0; i < 2; i++) {
        q = ask_for(world, (struct question){.action = REMOVE, .name = "s"});
        assert_ok(q.err);
        forget(&q);
    }
    expect_refused(world, (struct question){.action = GET, .name = "s"}, ERR_NOT_FOUND, "s");
    expect_refused(world, (struct question){.action = REMOVE, .name = "../disks/a"}, ERR_INVALID,
                   "is not a valid name");
    assert_int_equal(calls(world, "disks.delete"), 0);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked_for),
        cmocka_unit_test(test_a_snapshot_is_made_once),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_data_that_is_copied_in_the_background),
        cmocka_unit_test(test_readiness),
        cmocka_unit_test(test_a_copy_in_another_region),
        cmocka_unit_test(test_a_copy_that_cannot_be_found_yet),
        cmocka_unit_test(test_copies_that_are_refused),
        cmocka_unit_test(test_deletion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
