/* Each row is what a node says of a volume's file system, and what is made of it. */
#include "controller/volume/filesystem_note.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define VOLUME "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/One"
#define OWN "617a646b-728a-8727-8c77-dfa463f23789"   /* that identity.h gives to it */
#define OTHER "617a646b-e3ed-89fc-8189-bf08f00f569b" /* to some other volume */

static const struct {
    const char *why, *wanted, *role, *note;
    const char *fault; /* a part of it; NULL: it counts */
} rows[] = {
    {"the primary's", ROLE_PRIMARY, ROLE_PRIMARY, "ext4 " OWN, NULL},
    {"in capitals", ROLE_PRIMARY, ROLE_PRIMARY, "xfs 617A646B-728A-8727-8C77-DFA463F23789", NULL},
    {"a replica's", ROLE_REPLICA, ROLE_REPLICA, "ext4 " OWN, "not the primary"},
    {"of one that is to be the primary", ROLE_PRIMARY, ROLE_REPLICA, "ext4 " OWN,
     "not the primary"},
    {"of one that was the primary", ROLE_REPLICA, ROLE_PRIMARY, "ext4 " OWN, "not the primary"},
    {"of one without a role", ROLE_PRIMARY, NULL, "ext4 " OWN, "not the primary"},
    {"another volume's", ROLE_PRIMARY, ROLE_PRIMARY, "ext4 " OTHER, "not have the UUID"},
    {"not of this driver", ROLE_PRIMARY, ROLE_PRIMARY, "ext4 00000000-0000-0000-0000-000000000001",
     "not have the UUID"},
    {"no file system", ROLE_PRIMARY, ROLE_PRIMARY, "swap " OWN, "does not create"},
    {"no type", ROLE_PRIMARY, ROLE_PRIMARY, OWN, "not a file system type followed by a UUID"},
    {"more than that", ROLE_PRIMARY, ROLE_PRIMARY, "ext4 " OWN " x",
     "not a file system type followed by a UUID"},
    {"nothing", ROLE_PRIMARY, ROLE_PRIMARY, "", "not a file system type followed by a UUID"},
};

static char *text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static void test_which_notes_count(void **state)
{
    Api__AzVolumeDetail volume_detail = API__AZ_VOLUME_DETAIL__INIT;
    Api__AzVolumeStatus volume_status = API__AZ_VOLUME_STATUS__INIT;
    Api__AzVolume volume = API__AZ_VOLUME__INIT;

    (void)state;
    volume_detail.volume__id = text(VOLUME);
    volume_status.detail = &volume_detail;
    volume.status = &volume_status;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Api__AzVolumeAttachmentSpec spec = API__AZ_VOLUME_ATTACHMENT_SPEC__INIT;
        Api__AzVolumeAttachmentDetail detail = API__AZ_VOLUME_ATTACHMENT_DETAIL__INIT;
        Api__AzVolumeAttachmentStatus status = API__AZ_VOLUME_ATTACHMENT_STATUS__INIT;
        Api__AzVolumeAttachment attachment = API__AZ_VOLUME_ATTACHMENT__INIT;

        spec.role = text(rows[i].wanted);
        detail.role = text(rows[i].role);
        status.detail = &detail;
        attachment.spec = &spec;
        attachment.status = &status;
        const char *fault = filesystem_note_fault(&volume, &attachment, rows[i].note);
        if (!rows[i].fault != !fault || (fault && !strstr(fault, rows[i].fault)))
            fail_msg("%s: %s", rows[i].why, fault ? fault : "counts");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_notes_count)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
