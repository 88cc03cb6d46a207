#include "provisioner-lib/host/identity.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* Worked out by another implementation of SHA-256; changing one makes every disk a stranger. */
static void test_uuid_of_a_volume(void **state)
{
    static const struct {
        const char *volume_id, *uuid;
    } rows[] = {
        {"/subscriptions/0/resourceGroups/rg/providers/Microsoft.Compute/disks/Data-1",
         "617a646b-6e85-804c-ba1a-e367f410918d"},
        {"/SUBSCRIPTIONS/0/resourcegroups/RG/providers/microsoft.compute/disks/data-1",
         "617a646b-6e85-804c-ba1a-e367f410918d"},
        {"", "617a646b-e3b0-8442-98fc-1c149afbf4c8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char uuid[UUID_SIZE];

        identity_derive(rows[i].volume_id, uuid);
        assert_string_equal(uuid, rows[i].uuid);
        assert_true(identity_has_mark(uuid));
    }
}

static void test_other_peoples_uuids_have_no_mark(void **state)
{
    static const char *const rows[] = {"", "617a646b", "0e65e0d1-5a3b-4d2e-9d80-6d5a0a1b2c3d",
                                       "7a646b61-6e85-804c-ba1a-e367f410918d"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_false(identity_has_mark(rows[i]));
    assert_true(identity_has_mark("617A646B-6E85-804C-BA1A-E367F410918D"));
}

static void test_record(void **state)
{
    struct filesystem_identity identity;

    (void)state;
    assert_ok(identity_parse("ext4 617a646b-6e85-804c-ba1a-e367f410918d", &identity));
    assert_string_equal(identity.type, "ext4");
    assert_string_equal(identity.uuid, "617a646b-6e85-804c-ba1a-e367f410918d");

    CLEANUP(freep) char *record = identity_format(&identity);
    assert_string_equal(record, "ext4 617a646b-6e85-804c-ba1a-e367f410918d");
}

static void test_bad_records(void **state)
{
    static const char *const rows[] = {
        "",
        "ext4",
        "ext4 ",
        " 617a646b-6e85-804c-ba1a-e367f410918d",
        "617a646b-6e85-804c-ba1a-e367f410918d",
        "ext4 617a646b-6e85-804c-ba1a-e367f410918",
        "ext4 617a646b-6e85-804c-ba1a-e367f410918d ",
        "ext4 617a646b-6e85-804c-ba1a-e367f410918g",
        "ext4 617a646b06e85-804c-ba1a-e367f410918d",
        "ext4  617a646b-6e85-804c-ba1a-e367f410918d",
        "a-name-that-is-too-long 617a646b-6e85-804c-ba1a-e367f410918d",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct filesystem_identity identity;
        CLEANUP(freep)
        char *message = mem_printf("\"%s\" is not a file system type followed by a UUID", rows[i]);

        assert_fails(identity_parse(rows[i], &identity), ERR_INVALID, message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuid_of_a_volume),
        cmocka_unit_test(test_other_peoples_uuids_have_no_mark),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_bad_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
