/* Where the limits of VMs and disks come from: Azure, the file of the last time, what is built in.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/vm_sizes.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static int max_disks_from(struct world *world, enum cloud_source source)
{
    struct cloud_instance model = model_of(world, VM("vm1"));
    int most = model.max_disks;

    assert_int_equal(model.max_disks_from, source);
    cloud_instance_fini(&model);
    return most;
}

static int max_disks(struct world *world)
{
    return max_disks_from(world, CLOUD_TOLD);
}

/* ---- limits of disks ---- */

struct question {
    struct world *world;
    const char *sku, *location;
    int64_t gib;
    struct disk_limits limits;
};

static void get_limits(struct task *self, void *arg)
{
    struct question *question = arg;
    struct cloud *cloud = question->world->cloud;
    struct volume_parameters p = {.sku = question->sku};

    p.location = (char *)(uintptr_t)question->location;
    assert_ok(cloud->ops->disk_limits(self, cloud, &p, question->gib, &question->limits));
}

static struct disk_limits limits_in(struct world *world, const char *location, const char *sku,
                                    int64_t gib)
{
    struct question question = {.world = world, .sku = sku, .location = location, .gib = gib};

    loop_spawn(world->azure->loop, "question", get_limits, &question);
    loop_advance(world->azure->loop, 1000);
    return question.limits;
}

static struct disk_limits limits_of(struct world *world, const char *sku, int64_t gib)
{
    return limits_in(world, NULL, sku, gib);
}

static void assert_same_limits(const struct disk_limits *a, const struct disk_limits *b)
{
    assert_int_equal(a->least_gib, b->least_gib);
    assert_int_equal(a->most_gib, b->most_gib);
    assert_int_equal(a->max_shares, b->max_shares);
    assert_int_equal(a->least_iops, b->least_iops);
    assert_int_equal(a->most_iops, b->most_iops);
    assert_int_equal(a->most_iops_per_gib, b->most_iops_per_gib);
    assert_int_equal(a->least_mbps, b->least_mbps);
    assert_int_equal(a->most_mbps, b->most_mbps);
}

/* One list, of which the built-in table is a copy as far as it goes. */
static void test_what_disks_can_be(void **state)
{
    struct world *world = world_new();

    (void)state;
    for (size_t i = 0; DISK_SKU_NAMES[i]; i++)
        for (int64_t gib = 1; gib <= 65536; gib *= 2) {
            struct disk_limits told = limits_of(world, DISK_SKU_NAMES[i], gib), built_in;

            assert_int_equal(told.zones, 14); /* 1, 2 and 3 */
            disk_limits_built_in(DISK_SKU_NAMES[i], gib, &built_in);
            assert_same_limits(&told, &built_in);
        }
    assert_int_equal(calls(world, "skus.list"), 1);
    world_free(world);
}

static void test_azures_word_counts_more_than_what_is_built_in(void **state)
{
    struct world *world = world_new();

    (void)state;
    world->network.stand_in = (struct stand_in){
        .text = "/skus?",
        .times = 1,
        .status = 200,
        .body = "{'value': [{'resourceType': 'disks', 'name': 'PremiumV2_LRS', 'locationInfo': "
                "[{'location': 'eastus', 'zones': ['3', '1', '2']}], 'restrictions': [{'type': "
                "'Zone', 'restrictionInfo': {'zones': ['2']}}], 'capabilities': [{'name': "
                "'MaxSizeGiB', 'value': '1024'}, {'name': 'MaxValueOfMaxShares', 'value': '2'}, "
                "{'name': 'MaxIOpsReadWrite', 'value': '9000'}]}, {'resourceType': 'disks', "
                "'name': 'NoSize'}, {'name': 'no type'}]}"};
    struct disk_limits limits = limits_of(world, "PremiumV2_LRS", 4);
    assert_int_equal(limits.most_gib, 1024);
    assert_int_equal(limits.max_shares, 2);
    assert_int_equal(limits.most_iops, 9000);
    assert_int_equal(limits.zones, 1 << 1 | 1 << 3);
    assert_int_equal(limits_of(world, "Premium_LRS", 4).max_shares, 3); /* not in the list */
    assert_int_equal(limits_in(world, "westus", "PremiumV2_LRS", 4).max_shares, 15);
    assert_int_equal(limits_in(world, "EastUS", "PremiumV2_LRS", 4).max_shares, 2);
    world_free(world);
}

/* What Azure cannot mean is passed over, so that what is built in counts and the file stays one of
 * ours. */
static void test_limits_that_make_no_sense(void **state)
{
    static const char *const wrong[] = {
        ("{'name': 'MaxSizeGiB', 'value': '65536'}, "
         "{'name': 'MaxIOpsReadWrite', 'value': '9223372036854775807'}, "
         "{'name': 'MaxIopsPerGiBReadWrite', 'value': '9223372036854775807'}"),
        "{'name': 'MaxSizeGiB', 'value': '10'}, {'name': 'MinSizeGiB', 'value': '11'}",
        "{'name': 'MaxSizeGiB', 'value': '10'}, {'name': 'MinIOpsReadWrite', 'value': '-1'}",
        ("{'name': 'MaxSizeGiB', 'value': '10'}, "
         "{'name': 'MaxValueOfMaxShares', 'value': '4294967297'}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CLEANUP(freep)
        char *body = mem_printf("{'value': [{'resourceType': 'disks', 'name': 'PremiumV2_LRS', "
                                "'capabilities': [%s]}]}",
                                wrong[i]);
        struct world *world = world_new();
        struct disk_limits limits, built_in;

        world->network.stand_in =
            (struct stand_in){.text = "/skus?", .times = 1, .status = 200, .body = body};
        limits = limits_of(world, "PremiumV2_LRS", 65536);
        disk_limits_built_in("PremiumV2_LRS", 65536, &built_in);
        assert_same_limits(&limits, &built_in);
        world_free(world);
    }
}

/* There are LUNs for 64 disks, whatever a list says. */
static void test_more_disks_than_there_are_luns(void **state)
{
    static const char *const numbers[] = {"65", "4294967295", "4294967297", "9999999999999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        CLEANUP(freep)
        char *body = mem_printf("{'value': [{'resourceType': 'virtualMachines', 'name': "
                                "'Standard_D4s_v5', 'capabilities': [{'name': "
                                "'MaxDataDiskCount', 'value': '%s'}]}]}",
                                numbers[i]);
        struct world *world = world_new();

        world->network.stand_in =
            (struct stand_in){.text = "/skus?", .times = 1, .status = 200, .body = body};
        assert_int_equal(max_disks(world), CLOUD_MOST_SLOTS);
        world_free(world);
    }
}

/* ---- where they are from ---- */

static void assert_source(const char *name)
{
    struct metric *const metrics[] = {&METRIC_AZURE_SKU_SOURCE};
    CLEANUP(freep) char *line = mem_printf("{source=\"%s\"} 1\n", name);
    struct buffer out;

    buffer_init(&out, 4096);
    metrics_write(metrics, 1, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    assert_non_null(strstr(text, line));
}

static char *temporary_file(void)
{
    char folder[] = "/tmp/azdisk-sizes-XXXXXX";

    assert_non_null(mkdtemp(folder));
    return mem_printf("%s/sizes.json", folder);
}

static void remove_file(char *file)
{
    remove(file);
    *strrchr(file, '/') = '\0';
    remove(file);
    free(file);
}

static void test_the_list_is_asked_for_once(void **state)
{
    struct world *world = world_new();

    (void)state;
    assert_int_equal(max_disks(world), 8);
    loop_advance(world->azure->loop, 3600 * 1000);
    assert_int_equal(max_disks(world), 8);
    assert_int_equal(calls(world, "skus.list"), 1);
    assert_source("azure");
    world_free(world);
}

static void test_a_file_spares_the_question_for_a_day(void **state)
{
    char *file = temporary_file();
    struct world *world = world_with_cache(file);

    (void)state;
    assert_int_equal(max_disks(world), 8);
    world_free(world);

    world = world_with_cache(file);
    assert_int_equal(max_disks_from(world, CLOUD_KEPT), 8);
    assert_int_equal(limits_of(world, "UltraSSD_LRS", 4).most_iops, 4000);
    assert_int_equal(limits_of(world, "Premium_LRS", 1024).max_shares, 5);
    assert_int_equal(calls(world, "skus.list"), 0);
    assert_source("cache");
    loop_advance(world->azure->loop, 25 * 3600 * 1000);
    assert_int_equal(max_disks_from(world, CLOUD_KEPT), 8);
    loop_advance(world->azure->loop, 1000); /* in the background */
    assert_int_equal(calls(world, "skus.list"), 1);
    assert_source("azure");
    world_free(world);
    remove_file(file);
}

static void write_text(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");

    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void test_a_file_that_is_none_of_ours_is_ignored(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"at\": \"2026-01-01T00:00:00Z\", \"location\": \"eastus\"}",
        "{\"at\": \"2026-01-01T00:00:00Z\", \"location\": \"mars\", \"dataDisks\": {}, \"disks\": "
        "{}}",
        "{\"at\": \"x\", \"location\": \"eastus\", \"dataDisks\": {}, \"disks\": {}}",
        "{\"at\": \"2026-01-01T00:00:00Z\", \"location\": \"eastus\", \"dataDisks\": {\"a\": 1}}",
        "{\"at\": \"2026-01-01T00:00:00Z\", \"location\": \"eastus\", \"dataDisks\": {}, "
        "\"disks\": "
        "{\"a\": [{\"leastGiB\": 1}]}}",
        "{\"at\": \"2026-01-01T00:00:00Z\", \"location\": \"eastus\", \"dataDisks\": {\"a\": 65}, "
        "\"disks\": {}}",
    };
    char *file = temporary_file();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct world *world = world_with_cache(file);

        write_text(file, texts[i]);
        assert_int_equal(max_disks(world), 8);
        assert_int_equal(calls(world, "skus.list"), 1);
        world_free(world);
    }
    remove_file(file);
}

static const struct stand_in refusal = {
    .text = "/skus?",
    .times = 1,
    .status = 403,
    .body = "{'error': {'code': 'AuthorizationFailed', 'message': 'no'}}"};

static void test_without_an_answer_what_is_built_in_counts(void **state)
{
    struct world *world = world_new();

    (void)state;
    world->network.stand_in = refusal;
    assert_int_equal(max_disks_from(world, CLOUD_BUILT_IN), 8);
    assert_int_equal(limits_of(world, "UltraSSD_LRS", 4).most_iops, 4000);
    assert_source("built-in");
    assert_int_equal(calls(world, "skus.list"), 0);
    loop_advance(world->azure->loop, 11 * 60 * 1000);
    assert_int_equal(max_disks_from(world, CLOUD_BUILT_IN), 8);
    loop_advance(world->azure->loop, 1000);
    assert_int_equal(calls(world, "skus.list"), 1);
    assert_source("azure");
    world_free(world);
}

static void test_an_old_file_counts_more_than_what_is_built_in(void **state)
{
    char *file = temporary_file();
    struct world *world = world_with_cache(file);

    (void)state;
    write_text(file, "{\"at\": \"2025-01-01T00:00:00Z\", \"location\": \"eastus\", "
                     "\"dataDisks\": {\"standard_d4s_v5\": 7}, \"disks\": {}}");
    world->network.stand_in = refusal;
    assert_int_equal(max_disks_from(world, CLOUD_KEPT), 7);
    assert_source("cache");
    world_free(world);
    remove_file(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_disks_can_be),
        cmocka_unit_test(test_azures_word_counts_more_than_what_is_built_in),
        cmocka_unit_test(test_limits_that_make_no_sense),
        cmocka_unit_test(test_more_disks_than_there_are_luns),
        cmocka_unit_test(test_the_list_is_asked_for_once),
        cmocka_unit_test(test_a_file_spares_the_question_for_a_day),
        cmocka_unit_test(test_a_file_that_is_none_of_ours_is_ignored),
        cmocka_unit_test(test_without_an_answer_what_is_built_in_counts),
        cmocka_unit_test(test_an_old_file_counts_more_than_what_is_built_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
