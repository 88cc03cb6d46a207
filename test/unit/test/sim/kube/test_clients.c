/* lib/kube's reflector, lease and events, unchanged, with this server. */
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/events.h"
#include "lib/kube/lease.h"
#include "lib/kube/reflector.h"
#include "test/unit/test/sim/kube/stage.h"

enum { SETTLED_MS = 120 * 1000 };

/* ---- a reflector's store is what the server has ---- */

static void count_failure(void *ctx, const struct api_resource *resource, const struct err *err)
{
    assert_ptr_equal(resource, &AZ_VOLUMES);
    assert_non_null(err);
    (*(unsigned *)ctx)++;
}

static unsigned differences(struct stage *stage, const struct store *store)
{
    size_t volumes = kube_server_count(stage->server, &AZ_VOLUMES);
    unsigned n = store_count(store) != volumes;

    for (size_t i = 0; i < volumes; i++) {
        const json_t *metadata =
            json_object_get(kube_server_at(stage->server, &AZ_VOLUMES, i), "metadata");
        const char *name = json_string_value(json_object_get(metadata, "name"));
        const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
        CLEANUP(freep) char *key = kube_key("ns", name);
        const struct kube_object *object = store_get(store, key);

        n += !object || strcmp(object->metadata->resource_version, version) != 0;
    }
    return n;
}

/* Somebody's work: creates, changes and deletes, and what may be wrong with the server. */
static void disturb(struct stage *stage, struct random *random)
{
    CLEANUP(freep) char *name = mem_printf("v%u", (unsigned)random_below(random, 40));
    CLEANUP(json_decrefp) json_t *object = json_pack("{s:{s:s}}", "metadata", "name", name);
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:i}}", "spec", "i", (int)random_below(random, 1000));

    switch (random_below(random, 8)) {
    case 0:
        err_free(kube_server_delete(stage->server, &AZ_VOLUMES, "ns", name));
        break;
    case 1:
        kube_server_delay_watches(stage->server, &AZ_VOLUMES, random_below(random, 3000));
        break;
    case 2:
        if (random_below(random, 10) == 0)
            kube_server_compact(stage->server);
        break;
    case 3:
        if (random_below(random, 5) == 0)
            kube_server_break_watches(stage->server, NULL);
        break;
    case 4:
        kube_server_go_away(stage->server, random_below(random, 10) == 0);
        break;
    default:
        err_free(kube_server_create(stage->server, &AZ_VOLUMES, "ns", object));
        err_free(kube_server_patch(stage->server, &AZ_VOLUMES, "ns", name, NULL, patch));
    }
}

static void keeps_a_store_equal(struct task *self, struct stage *stage)
{
    const struct fault_rule faults[] = {
        {.verb = "list", .chance = 500, .status = 500},
        {.verb = "watch", .chance = 1000, .status = 429, .retry_after_s = 1},
    };
    CLEANUP(store_freep) struct store *store = store_new(&AZ_VOLUMES);
    struct kube_server_behaviour *behaviour = kube_server_behaviour(stage->server);
    struct random random = {.state = 7};
    struct task_group group;
    unsigned failures = 0;
    const struct reflector_config config = {.kube = stage->kube,
                                            .store = store,
                                            .page_size = 7,
                                            .failed = count_failure,
                                            .ctx = &failures};

    fault_add(&behaviour->fault, &faults[0]);
    fault_add(&behaviour->fault, &faults[1]);
    behaviour->gone_is_a_status = true;
    group_init(&group, stage->loop);
    reflector_start(&group, &config);
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < 100; i++) {
            disturb(stage, &random);
            assert_ok(task_sleep(self, random_below(&random, 300)));
        }
        behaviour->gone_is_a_status = round % 2;
        kube_server_go_away(stage->server, false);
        assert_ok(task_sleep(self, SETTLED_MS));
        assert_int_equal(differences(stage, store), 0);
    }
    assert_true(failures > 10);
    assert_true(behaviour->fault.hits[0] > 0);
    assert_true(behaviour->fault.hits[1] > 0);
    group_close(self, &group);
}

/* ---- a lease changes hands ---- */

static void ignore(void *ctx)
{
    (void)ctx;
}

static void ignore_failure(void *ctx, const struct err *err)
{
    assert_non_null(err);
    (*(unsigned *)ctx)++;
}

static void elects_one_leader(struct task *self, struct stage *stage)
{
    unsigned failures = 0;
    struct lease_config config = {.kube = stage->kube,
                                  .namespace_ = "ns",
                                  .name = "leader",
                                  .identity = "first",
                                  .duration_ms = 15 * 1000,
                                  .renew_deadline_ms = 10 * 1000,
                                  .retry_period_ms = 2 * 1000,
                                  .acquired = ignore,
                                  .lost = ignore,
                                  .failed = ignore_failure,
                                  .ctx = &failures};
    struct lease_config other = config;
    const struct fault_rule conflicts = {
        .verb = "patch", .resource = &LEASES, .most = 2, .status = 409, .after_effect = true};

    other.identity = "second";
    struct lease *first = lease_new(stage->loop, &config);
    assert_ok(task_sleep(self, 1000));
    struct lease *second = lease_new(stage->loop, &other);
    assert_ok(task_sleep(self, 60 * 1000));
    assert_true(lease_is_held(first));
    assert_false(lease_is_held(second));
    assert_int_equal(failures, 0);

    /* Renewals whose answers are wrong count nevertheless: they are read anew. */
    fault_add(&kube_server_behaviour(stage->server)->fault, &conflicts);
    assert_ok(task_sleep(self, 60 * 1000));
    assert_int_equal(kube_server_behaviour(stage->server)->fault.hits[0], 2);
    assert_true(lease_is_held(first));

    lease_release(self, first);
    assert_ok(task_sleep(self, 10 * 1000));
    assert_true(lease_is_held(second));
    assert_string_equal(stage_value(stage, &LEASES, "ns", "leader", "spec.holderIdentity"),
                        "second");

    kube_server_go_away(stage->server, true);
    assert_ok(task_sleep(self, 20 * 1000));
    assert_false(lease_is_held(second));
    kube_server_go_away(stage->server, false);
    lease_release(self, second);
}

/* ---- events are written down once ---- */

static void records_events(struct task *self, struct stage *stage)
{
    unsigned failures = 0;
    struct task_group group;
    Api__ObjectMeta about = API__OBJECT_META__INIT;
    const struct events_config config = {.kube = stage->kube,
                                         .controller = "disk.csi.azure.com",
                                         .instance = "here",
                                         .failed = ignore_failure,
                                         .ctx = &failures};

    about.name = (char *)(uintptr_t) "v";
    about.namespace_ = (char *)(uintptr_t) "ns";
    about.uid = (char *)(uintptr_t) "u";
    group_init(&group, stage->loop);
    struct events *events = events_new(&group, &config);
    for (unsigned i = 0; i < 3; i++) {
        events_record(events, &AZ_VOLUMES, &about, EVENT_WARNING, "Late", "Attach", "the same");
        assert_ok(task_sleep(self, 1000));
    }
    assert_int_equal(kube_server_count(stage->server, &EVENTS), 1);
    const json_t *event = kube_server_at(stage->server, &EVENTS, 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "series"), "count")),
                     3);
    assert_int_equal(failures, 0);
    group_close(self, &group);
    events_free(events);
}

/* ---- faults ---- */

static void fails_as_told(struct task *self, struct stage *stage)
{
    struct fault_list *fault = &kube_server_behaviour(stage->server)->fault;
    const struct fault_rule rules[] = {
        {.verb = "create", .skip = 1, .most = 1, .status = 503, .retry_after_s = 7},
        {.verb = "create", .resource = &NODES, .most = 1, .after_effect = true},
        {.verb = "delete", .status = 429, .retry_after_s = 3},
    };
    CLEANUP(json_decrefp) json_t *a = stage_json("{'metadata':{'name':'a'}}");
    CLEANUP(json_decrefp) json_t *b = stage_json("{'metadata':{'name':'b'}}");

    fault_add(fault, &rules[0]);
    assert_ok(kube_create(self, stage->kube, &NODES, NULL, a, NULL));
    struct err *err = kube_create(self, stage->kube, &NODES, NULL, b, NULL);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);
    assert_null(kube_server_get(stage->server, &NODES, NULL, "b"));

    fault_add(fault, &rules[1]);
    uint64_t began = loop_now(stage->loop);
    err = kube_create(self, stage->kube, &NODES, NULL, b, NULL);
    assert_int_equal(err_kind(err), ERR_TIMEOUT);
    err_free(err);
    assert_int_equal(loop_now(stage->loop) - began, KUBE_CALL_TIMEOUT_MS);
    assert_non_null(kube_server_get(stage->server, &NODES, NULL, "b"));

    fault_add(fault, &rules[2]);
    err = kube_delete(self, stage->kube, &NODES, NULL, "b", NULL);
    assert_int_equal(err_kind(err), ERR_THROTTLED);
    assert_int_equal(err_retry_after_ms(err), 3000);
    err_free(err);
    fault_clear(fault);
    assert_ok(kube_delete(self, stage->kube, &NODES, NULL, "b", NULL));
}

#define PLAY(body)                                                                                 \
    static void body##_test(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        stage_play(body);                                                                          \
    }
PLAY(keeps_a_store_equal)
PLAY(elects_one_leader)
PLAY(records_events)
PLAY(fails_as_told)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_a_store_equal_test),
        cmocka_unit_test(elects_one_leader_test),
        cmocka_unit_test(records_events_test),
        cmocka_unit_test(fails_as_told_test),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
