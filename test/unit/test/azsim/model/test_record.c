/* A snapshot that somebody damaged is refused or put up with; nothing worse happens. */
#include "test/azsim/model/record.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/model/script.h"

/* Disks of every kind, snapshots, VMs of scale sets, a failed one, operations in every status. */
static const char script[] = "disk a 10 3\ndisk b\ndisk c\ndisk d\n"
                             "attach vm1 a b\n"
                             "wait 10s\n"
                             "break c\n"
                             "attach vm1 c\n"
                             "wait 10s\n"
                             "attach vm2 a\n"
                             "delete d\n"
                             "disk p 10 1 PremiumV2_LRS\n"
                             "snapshot s p\n"
                             "latency snapshot=10s\n"
                             "snapshot t b\n"
                             "attach uniform a\n"
                             "act flexible deallocate\n"
                             "remove far\n";

/* Restores it into a model of its own; whether that worked. */
static bool restores(struct model *like, const json_t *snapshot)
{
    struct loop *loop = loop_new_virtual(1);
    struct model *model =
        model_new(&(struct model_config){.loop = loop,
                                         .tenant_id = like->tenant_id,
                                         .subscription_id = like->subscriptions[0].id,
                                         .location = like->location});

    model_add_group(model, "rg");
    CLEANUP(err_freep) struct err *err = records_restore(model, snapshot);
    if (err)
        assert_int_equal(err_kind(err), ERR_INVALID);
    else
        loop_advance(loop, 1000 * 1000); /* whatever it leads to */
    model_free(model);
    loop_free(loop);
    return !err;
}

/* What may stand in the place of a value. */
static json_t *damage(size_t i)
{
    switch (i) {
    case 0:
        return json_null();
    case 1:
        return json_integer(-1);
    case 2:
        return json_string("?");
    case 3:
        return json_array();
    default:
        return json_object();
    }
}

/* Every value of a tree, one after the other, is replaced by each kind of damage. */
static unsigned damage_all(struct model *like, const json_t *snapshot, json_t *tree)
{
    const char *key;
    json_t *value;
    size_t n;
    void *next;
    unsigned tried = 0;

    json_object_foreach_safe(tree, next, key, value)
    {
        json_incref(value);
        for (size_t i = 0; i < 5; i++, tried++) {
            json_object_set_new(tree, key, damage(i));
            restores(like, snapshot);
        }
        json_object_set_new(tree, key, value);
        tried += damage_all(like, snapshot, value);
    }
    json_array_foreach(tree, n, value) {
        tried += damage_all(like, snapshot, value);
    }
    return tried;
}

static void test_damage(void **state)
{
    struct world *world = world_new();

    (void)state;
    world_run(world, script);
    json_t *snapshot = records_of_model(world_model(world));
    assert_true(restores(world_model(world), snapshot));
    unsigned tried = damage_all(world_model(world), snapshot, snapshot);
    print_message("  %u damages\n", tried);
    assert_in_range(tried, 1000, 100000);
    assert_true(restores(world_model(world), snapshot)); /* all was put back */
    json_decref(snapshot);
    world_free(world);
}

static void test_a_change_laid_over_a_snapshot_gives_the_next(void **state)
{
    static const struct {
        const char *snapshot, *change, *result;
    } rows[] = {
        {"{}", "{'a': {'x': 1}}", "{'a': {'x': 1}}"},
        {"{'a': {'x': 1}}", "{'a': {'x': null}}", "{'a': {}}"},
        {"{'a': {'x': 1, 'y': 2}}", "{'a': {'x': {'z': null}}, 'b': {'q': 3}}",
         "{'a': {'x': {'z': null}, 'y': 2}, 'b': {'q': 3}}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *snapshot = json_of(rows[i].snapshot), *change = json_of(rows[i].change);
        json_t *result = json_of(rows[i].result);

        records_apply(snapshot, change);
        assert_true(json_equal(snapshot, result));
        json_decref(snapshot);
        json_decref(change);
        json_decref(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_a_change_laid_over_a_snapshot_gives_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
