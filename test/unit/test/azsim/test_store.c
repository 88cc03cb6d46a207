#include "test/azsim/store.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/rt/loop.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"

struct fixture {
    char *folder;
    struct loop *loop;
    struct store *store;
    struct model *model;
};

static json_t *owner(const char *location)
{
    return json_pack("{s:s}", "location", location);
}

/* A model over what the folder holds. */
static void start(struct fixture *fixture)
{
    CLEANUP(json_decrefp) json_t *mine = owner("eastus");
    CLEANUP(json_decrefp) json_t *snapshot = NULL;

    assert_ok(store_open(fixture->folder, mine, &fixture->store, &snapshot));
    fixture->model = model_new(&(struct model_config){.loop = fixture->loop,
                                                      .tenant_id = "t",
                                                      .subscription_id = "s",
                                                      .location = "eastus",
                                                      .commit = store_commit,
                                                      .commit_ctx = fixture->store});
    model_add_group(fixture->model, "rg");
    assert_ok(records_restore(fixture->model, snapshot));
    assert_ok(store_start(fixture->store, fixture->model));
}

static void stop(struct fixture *fixture)
{
    model_free(fixture->model);
    store_free(fixture->store);
}

static struct vm *add_vm(struct fixture *fixture, const char *name)
{
    struct vm_spec spec = {
        .name = mem_strdup(name), .size = vm_size_find("Standard_B1s"), .zone = mem_strdup("")};
    struct vm *vm;

    assert_ok(vm_add(fixture->model, fixture->model->groups[0], &spec, &vm));
    return vm;
}

static int set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->folder = mem_strdup("/tmp/azsim-store-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    fixture->loop = loop_new_virtual(1);
    start(fixture);
    *state = fixture;
    return 0;
}

static char *path_in(const struct fixture *fixture, const char *name)
{
    return mem_printf("%s/%s", fixture->folder, name);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(freep) char *path = path_in(fixture, "state.jsonl");

    stop(fixture);
    loop_free(fixture->loop);
    unlink(path);
    assert_int_equal(rmdir(fixture->folder), 0); /* and nothing else is left in it */
    free(fixture->folder);
    free(fixture);
    return 0;
}

static long file_size(const struct fixture *fixture)
{
    CLEANUP(freep) char *path = path_in(fixture, "state.jsonl");
    struct stat stat_of;

    assert_int_equal(stat(path, &stat_of), 0);
    return stat_of.st_size;
}

static void test_what_was_committed_is_there_again(void **state)
{
    struct fixture *fixture = *state;

    add_vm(fixture, "a");
    vm_set_power(add_vm(fixture, "b"), POWER_DEALLOCATED);
    json_t *before = records_of_model(fixture->model);
    stop(fixture);
    start(fixture);
    json_t *after = records_of_model(fixture->model);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}

static void test_the_file_does_not_grow_for_ever(void **state)
{
    struct fixture *fixture = *state;
    struct vm *vm = add_vm(fixture, "a");
    long largest = 0;

    for (int i = 0; i < 5000; i++) {
        vm_set_power(vm, i % 2 ? POWER_RUNNING : POWER_STOPPED);
        largest = file_size(fixture) > largest ? file_size(fixture) : largest;
    }
    assert_in_range(largest, 1000 * 1000, 1100 * 1000);
    assert_true(file_size(fixture) < largest);
    vm_set_power(vm, POWER_DEALLOCATED);
    stop(fixture);
    start(fixture);
    assert_int_equal(vm_find_by_name(fixture->model, "a")->power, POWER_DEALLOCATED);
}

static void test_foreign_files_are_refused(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(json_decrefp) json_t *other = owner("westus");
    CLEANUP(freep) char *path = path_in(fixture, "state.jsonl");
    CLEANUP(freep)
    char *message =
        mem_printf("%s belongs to another configuration: {\"location\":\"eastus\"}", path);
    struct store *store;
    json_t *snapshot;

    assert_fails(store_open(fixture->folder, other, &store, &snapshot), ERR_INVALID, message);
}

static void test_a_damaged_line_is_not_passed_over(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(json_decrefp) json_t *mine = owner("eastus");
    CLEANUP(freep) char *path = path_in(fixture, "state.jsonl");
    FILE *file = fopen(path, "a");
    struct store *store;
    json_t *snapshot;

    fputs("{\"vms\": \n{}\n", file);
    fclose(file);
    CLEANUP(err_freep) struct err *err = store_open(fixture->folder, mine, &store, &snapshot);
    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_committed_is_there_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_file_does_not_grow_for_ever, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_damaged_line_is_not_passed_over, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
