/* What disks may be and become: a body, and what Azure says to it. */
#include "lib/base/alloc.h"
#include "test/azsim/model/disk.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/model/script.h"

/* ---- creation ---- */

#define EMPTY "'creationData': {'createOption': 'Empty'}"

struct creation {
    const char *why, *name, *body;
    int status;
    const char *code; /* NULL: accepted */
    const char *text; /* part of the message */
};

static const struct creation creations[] = {
    {"the least that will do", "d",
     "{'location': 'eastus', 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 0, NULL, NULL},
    {"a location as people write it", "d",
     "{'location': 'East US', 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 0, NULL, NULL},
    {"no location", "d", "{'properties': {" EMPTY ", 'diskSizeGB': 4}}", 400, "LocationRequired",
     "location property is required"},
    {"another region", "d", "{'location': 'mars', 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 400,
     "LocationNotAvailableForResourceType", "'mars'"},
    {"a name that begins with a dash", "-d",
     "{'location': 'eastus', 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 400, "InvalidParameter",
     "'diskName' is invalid"},
    {"nothing said of its creation", "d", "{'location': 'eastus', 'properties': {'diskSizeGB': 4}}",
     400, "InvalidParameter", "'disk.creationData' is missing"},
    {"a way of creation that there is not", "d",
     "{'location': 'eastus', 'properties': {'creationData': {'createOption': 'Magic'}}}", 400,
     "InvalidParameter", "'Magic'"},
    {"no size", "d", "{'location': 'eastus', 'properties': {" EMPTY "}}", 400, "InvalidParameter",
     "'disk.diskSizeGB' is missing"},
    {"too small", "d",
     "{'location': 'eastus', 'sku': {'name': 'UltraSSD_LRS'}, 'zones': ['1'], 'properties': {" EMPTY
     ", 'diskSizeGB': 3}}",
     400, "InvalidParameter", "The value '3' of parameter 'disk.diskSizeGB' is out of range"},
    {"too large", "d", "{'location': 'eastus', 'properties': {" EMPTY ", 'diskSizeGB': 32768}}",
     400, "InvalidParameter", "between '1' and '32767'"},
    {"a SKU that there is not", "d",
     "{'location': 'eastus', 'sku': {'name': 'Gold'}, 'properties': {" EMPTY ", 'diskSizeGB': 4}}",
     400, "InvalidParameter", "'Gold'"},
    {"a zone that there is not", "d",
     "{'location': 'eastus', 'zones': ['7'], 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 400,
     "InvalidAvailabilityZone", "The zone(s) '7'"},
    {"two zones", "d",
     "{'location': 'eastus', 'zones': ['1', '2'], 'properties': {" EMPTY ", 'diskSizeGB': 4}}", 400,
     "InvalidAvailabilityZone", "'1'"},
    {"a zone-redundant disk in a zone", "d",
     "{'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'Premium_ZRS'}, 'properties': {" EMPTY
     ", 'diskSizeGB': 4}}",
     409, "OperationNotAllowed", "'Premium_ZRS' cannot be created in an availability zone"},
    {"IOPS of a Premium disk", "d",
     "{'location': 'eastus', 'sku': {'name': 'Premium_LRS'}, 'properties': {" EMPTY
     ", 'diskSizeGB': 4, 'diskIOPSReadWrite': 5000}}",
     400, "InvalidParameter", "IOPS"},
    {"IOPS of a Premium disk as they are", "d",
     "{'location': 'eastus', 'sku': {'name': 'Premium_LRS'}, 'properties': {" EMPTY
     ", 'diskSizeGB': 4, 'diskIOPSReadWrite': 120, 'diskMBpsReadWrite': 25, 'tier': 'P1'}}",
     0, NULL, NULL},
    {"another tier than that of the size", "d",
     "{'location': 'eastus', 'sku': {'name': 'Premium_LRS'}, 'properties': {" EMPTY
     ", 'diskSizeGB': 4, 'tier': 'P50'}}",
     400, "InvalidParameter", "'P50'"},
};

static struct refusal *put(struct world *world, const char *name, const char *text,
                           struct disk **ret)
{
    json_t *body = json_of(text);
    struct model *model = world_model(world);
    struct operation *operation;
    struct refusal *refusal = disk_put(model, model->groups[0], name, body, ret, &operation);

    json_decref(body);
    if (!refusal)
        loop_advance(world_loop(world), 2000);
    return refusal;
}

static void expect(const char *why, const struct refusal *refusal, int status, const char *code,
                   const char *text)
{
    if (!code && refusal)
        fail_msg("%s: %s: %s", why, refusal->code, refusal->message);
    if (!code)
        return;
    if (!refusal || refusal->status != status || strcmp(refusal->code, code) != 0 ||
        !strstr(refusal->message, text))
        fail_msg("%s: %d %s: %s", why, refusal ? refusal->status : 200,
                 refusal ? refusal->code : "", refusal ? refusal->message : "");
}

static void test_creations(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(creations); i++) {
        const struct creation *row = &creations[i];
        struct world *world = world_new();
        struct disk *disk;
        CLEANUP(refusal_freep) struct refusal *refusal = put(world, row->name, row->body, &disk);

        expect(row->why, refusal, row->status, row->code, row->text);
        world_free(world);
    }
}

/* ---- shares ---- */

static const struct {
    const char *sku;
    int gib;
    unsigned most; /* 1: not shareable */
} shares[] = {
    {"Standard_LRS", 4096, 1},      {"StandardSSD_LRS", 4, 3}, {"Premium_LRS", 512, 3},
    {"Premium_LRS", 513, 5},        {"Premium_LRS", 4096, 5},  {"Premium_LRS", 4097, 10},
    {"StandardSSD_ZRS", 32767, 10}, {"PremiumV2_LRS", 1, 15},  {"UltraSSD_LRS", 65536, 15},
};

static void test_shares_depend_on_sku_and_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        for (unsigned extra = 0; extra < 2; extra++) {
            struct world *world = world_new();
            CLEANUP(freep)
            char *body = mem_printf("{'location': 'eastus', 'sku': {'name': '%s'}, 'properties': "
                                    "{" EMPTY ", 'diskSizeGB': %d, 'maxShares': %u}}",
                                    shares[i].sku, shares[i].gib, shares[i].most + extra);
            struct disk *disk;
            CLEANUP(refusal_freep) struct refusal *refusal = put(world, "d", body, &disk);

            expect(shares[i].sku, refusal, 400, extra ? "BadRequest" : NULL, "MaxShares '");
            world_free(world);
        }
}

/* ---- change ---- */

struct change {
    const char *why;
    const char *script; /* what happened to the disk "d" before */
    const char *change; /* PATCH; with "PUT " before it, a PUT */
    int status;
    const char *code, *text;
};

#define SHARED "disk d 10 2\nattach vm1 d\nwait 10s\n"
#define PLAIN "disk d 10\nattach vm1 d\nwait 10s\n"

static const struct change changes[] = {
    {"the same again", "disk d 10\n",
     "PUT {'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'Premium_LRS'}, "
     "'properties': {" EMPTY ", 'diskSizeGB': 10, 'maxShares': 1}}",
     0, NULL, NULL},
    {"the same again while it is attached", SHARED,
     "PUT {'location': 'eastus', 'zones': ['1'], 'sku': {'name': 'premium_lrs'}, "
     "'properties': {'creationData': {'createOption': 'empty'}, 'diskSizeGB': 10, 'maxShares': 2}}",
     0, NULL, NULL},
    {"created in another way", "disk d 10\n",
     "PUT {'location': 'eastus', 'properties': {'creationData': {'createOption': 'Empty', "
     "'logicalSectorSize': 512}}}",
     409, "PropertyChangeNotAllowed", "'creationData.logicalSectorSize'"},
    {"another region", "disk d 10\n", "PUT {'location': 'westus', 'properties': {}}", 409,
     "InvalidResourceLocation", "already exists in location 'eastus'"},
    {"no region", "disk d 10\n", "PUT {'properties': {}}", 400, "LocationRequired", ""},
    {"another zone", "disk d 10\n", "{'zones': ['2']}", 409, "PropertyChangeNotAllowed", "'zones'"},
    {"larger", "disk d 10\n", "{'properties': {'diskSizeGB': 20}}", 0, NULL, NULL},
    {"smaller", "disk d 10\n", "{'properties': {'diskSizeGB': 9}}", 409, "OperationNotAllowed",
     "cannot be resized down"},
    {"larger while attached", PLAIN, "{'properties': {'diskSizeGB': 20}}", 0, NULL, NULL},
    {"larger while attached, beyond 4 TiB", PLAIN, "{'properties': {'diskSizeGB': 4096}}", 409,
     "OperationNotAllowed",
     "Cannot resize disk d while it is attached to running VM /subscriptions"},
    {"larger while shared and attached", SHARED, "{'properties': {'diskSizeGB': 20}}", 409,
     "OperationNotAllowed", "Cannot resize disk d"},
    {"larger while shared and its VM is deallocated", SHARED "power vm1 deallocated\n",
     "{'properties': {'diskSizeGB': 20}}", 0, NULL, NULL},
    {"more shares", "disk d 10 2\n", "{'properties': {'maxShares': 3}}", 0, NULL, NULL},
    {"more shares while attached", SHARED, "{'properties': {'maxShares': 3}}", 409,
     "OperationNotAllowed", "maxShares"},
    {"another SKU", "disk d 10\n", "{'sku': {'name': 'StandardSSD_LRS'}}", 0, NULL, NULL},
    {"a SKU without sharing", "disk d 10 2\n", "{'sku': {'name': 'Standard_LRS'}}", 400,
     "BadRequest", "MaxShares '2'"},
    {"another SKU while attached", PLAIN, "{'sku': {'name': 'StandardSSD_LRS'}}", 409,
     "OperationNotAllowed", "the sku"},
    {"another redundancy", "disk d 10 1 Premium_LRS none\n", "{'sku': {'name': 'Premium_ZRS'}}",
     409, "PropertyChangeNotAllowed", "sku.name"},
    {"while another change is under way", "disk d 10\ndelete d\n", "{'tags': {'a': 'b'}}", 409,
     "Conflict", "concurrent request"},
};

static void test_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const struct change *row = &changes[i];
        struct world *world = world_new();
        bool is_put = strncmp(row->change, "PUT ", 4) == 0;
        struct model *model = world_model(world);
        struct operation *operation;

        world_run(world, row->script);
        json_t *body = json_of(row->change + (is_put ? 4 : 0));
        struct disk *disk = model->disks;
        CLEANUP(refusal_freep)
        struct refusal *refusal =
            is_put ? disk_put(model, model->groups[0], "D", body, &disk, &operation)
                   : disk_patch(disk, body, &operation);
        json_decref(body);
        expect(row->why, refusal, row->status, row->code, row->text);
        assert_int_equal(HASH_COUNT(model->disks), 1);
        world_free(world);
    }
}

/* ---- what is kept ---- */

static void test_keeps_what_was_sent_and_not_what_is_azures(void **state)
{
    struct world *world = world_new();
    struct disk *disk;

    (void)state;
    assert_null(put(world, "d",
                    "{'location': 'eastus', 'tags': {'a': '1', 'b': '2'}, 'managedBy': 'me', "
                    "'properties': {" EMPTY ", 'diskSizeGB': 4, 'diskState': 'Attached', "
                    "'uniqueId': 'x', 'brandNew': {'deep': [1, null]}}}",
                    &disk));
    assert_string_equal(resource_text(disk->body, "tags.b", ""), "2");
    assert_int_equal(json_array_size(resource_get(disk->body, "properties.brandNew.deep")), 2);
    assert_null(resource_get(disk->body, "managedBy"));
    assert_null(resource_get(disk->body, "properties.diskState"));
    assert_null(resource_get(disk->body, "properties.uniqueId"));
    assert_string_equal(resource_text(disk->body, "sku.name", ""), "Standard_LRS");
    assert_string_equal(resource_text(disk->body, "properties.networkAccessPolicy", ""),
                        "AllowAll");

    /* Tags are replaced as a whole, all else is merged. */
    assert_null(put(world, "d",
                    "{'location': 'eastus', 'tags': {'c': '3'}, 'properties': {'encryption': "
                    "{'diskEncryptionSetId': 'e'}, 'diskSizeGB': null}}",
                    &disk));
    assert_null(resource_get(disk->body, "tags.a"));
    assert_string_equal(resource_text(disk->body, "tags.c", ""), "3");
    assert_string_equal(resource_text(disk->body, "properties.encryption.type", ""),
                        "EncryptionAtRestWithPlatformKey");
    assert_int_equal(disk->spec.size_gib, 4);
    world_free(world);
}

static void test_devices_grow_with_the_disk(void **state)
{
    struct world *world = world_new();
    struct operation *operation;

    (void)state;
    world_run(world, PLAIN "devices +d@vm1:0\n");
    json_t *body = json_of("{'properties': {'diskSizeGB': 20}}");
    assert_null(disk_patch(world_model(world)->disks, body, &operation));
    json_decref(body);
    world_run(world, "devices\nwait 2s\ndevices =d:20\n");
    world_free(world);
}

/* ---- the tables of what is sold ---- */

static void test_performance_follows_the_size(void **state)
{
    static const struct {
        const char *sku;
        int gib, iops, mbps;
    } rows[] = {
        {"Standard_LRS", 10, 500, 60},        {"Premium_LRS", 200, 1100, 125},
        {"Premium_LRS", 1, 120, 25},          {"Premium_LRS", 32767, 20000, 900},
        {"StandardSSD_LRS", 5000, 2000, 400}, {"PremiumV2_LRS", 100, 3000, 125},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t iops, mbps;

        disk_performance(disk_sku_find(rows[i].sku), rows[i].gib, &iops, &mbps);
        assert_int_equal(iops, rows[i].iops);
        assert_int_equal(mbps, rows[i].mbps);
    }
    assert_string_equal(disk_step_name(disk_sku_find("Premium_LRS"), disk_step_of(200)), "P15");
    assert_string_equal(disk_step_name(disk_sku_find("Premium_LRS"), disk_step_of(257)), "P20");
}

/* ---- bounds ---- */

static void test_ended_operations_are_kept_for_a_day_and_not_more_than_so_many(void **state)
{
    struct world *world = world_new();
    struct model *model = world_model(world);
    struct operation *first = operation_start(model, OPERATION_DISK_UPDATE, "none", 1000);

    (void)state;
    CLEANUP(freep) char *id = mem_strdup(first->id);
    operation_end(first, NULL);
    for (int i = 0; i < OPERATION_MAX_ENDED; i++)
        operation_end(operation_start(model, OPERATION_DISK_UPDATE, "none", 1000), NULL);
    assert_non_null(operation_find(model, id));
    operation_end(operation_start(model, OPERATION_DISK_UPDATE, "none", 1000), NULL);
    assert_null(operation_find(model, id));
    assert_int_equal(HASH_COUNT(model->operations), OPERATION_MAX_ENDED + 1);

    loop_advance(world_loop(world), 24 * 3600 * 1000 + 1000);
    operation_end(operation_start(model, OPERATION_DISK_UPDATE, "none", 1000), NULL);
    assert_int_equal(HASH_COUNT(model->operations), 1);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creations),
        cmocka_unit_test(test_shares_depend_on_sku_and_size),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_keeps_what_was_sent_and_not_what_is_azures),
        cmocka_unit_test(test_devices_grow_with_the_disk),
        cmocka_unit_test(test_performance_follows_the_size),
        cmocka_unit_test(test_ended_operations_are_kept_for_a_day_and_not_more_than_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
