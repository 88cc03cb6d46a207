/* What an AzVolume and an attachment say of one disk, and whether that is enough to use it. */
#include "node/volume_record.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define OWN "617a646b-6e85-804c-ba1a-e367f410918d"
#define OTHER "617a646b-1111-8111-8111-111111111111"
#define VOLUME(status) "{'metadata':{'name':'data'},'status':{" status "}}"
#define DETAIL(size) "'detail':{'volume_id':'/subscriptions/S/data','capacity_bytes':" size "}"
#define GROWS(state, size, wish)                                                                   \
    "{'metadata':{'name':'data'},'spec':{'capacityRange':{'required_bytes':" wish "}},"            \
    "'status':{'state':'" state "'," DETAIL(size) "}}"
#define NOTE(text) "'annotation':{'disk.csi.azure.com/filesystem':'" text "'}"
#define NOTES(...) "'annotation':{" __VA_ARGS__ "}"
#define SOURCE(text) "'disk.csi.azure.com/source-filesystem':'" text "'"
#define UUIDS(text) "'disk.csi.azure.com/source-uuids':'" text "'"
#define FOUR OWN " " OWN " " OWN " " OWN
#define ACCEPTING(text, status)                                                                    \
    "{'metadata':{'name':'data','annotations':{'disk.csi.azure.com/accept-filesystem':'" text      \
    "'}},'status':{" status "}}"
#define DISAGREE                                                                                   \
    ": AzVolumeAttachment data-n1-attachment and AzVolume data disagree, so one of them was not "  \
    "written by the controller; the device was not modified"

static const struct {
    const char *volume, *said; /* by the attachment, of the file system; NULL: nothing */
    uint64_t size;             /* the same of the size */
    const char *record;        /* what the disk must be, or */
    enum err_kind kind;
    const char *fault;
} rows[] = {
    {VOLUME(DETAIL("1000")), NULL, 1000, "1000 -", 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTE("ext4 " OWN)), "ext4 " OWN, 1000, "1000 ext4 " OWN, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTE("ext4 " OWN)), NULL, 1000, "1000 ext4 " OWN, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTE("xfs " OWN)), "xfs 617A646B-6E85-804C-BA1A-E367F410918D", 1000,
     "1000 xfs " OWN, 0, NULL},

    {VOLUME(DETAIL("1000")), NULL, 1001, NULL, ERR_PRECONDITION,
     "the volume has 1001 bytes according to its attachment, but 1000 according to its "
     "record" DISAGREE},
    {VOLUME(DETAIL("1000") "," NOTE("ext4 " OWN)), "ext4 " OTHER, 1000, NULL, ERR_PRECONDITION,
     "the volume's file system is ext4 " OTHER " according to its attachment, but ext4 " OWN
     " according to its record" DISAGREE},
    {VOLUME(DETAIL("1000") "," NOTE("ext4 " OWN)), "xfs " OWN, 1000, NULL, ERR_PRECONDITION,
     "the volume's file system is xfs " OWN " according to its attachment, but ext4 " OWN
     " according to its record" DISAGREE},
    {VOLUME(DETAIL("1000")), "ext4 " OWN, 1000, NULL, ERR_BUSY,
     "AzVolume data does not yet confirm what AzVolumeAttachment data-n1-attachment says about the "
     "volume's file system, ext4 " OWN
     "; if the controller has rejected it, an event of the AzVolumeAttachment gives the reason"},
    {VOLUME("'detail':{'volume_id':'/subscriptions/s/other','capacity_bytes':1000}"), NULL, 1000,
     NULL, ERR_PRECONDITION,
     "AzVolume data has disk /subscriptions/s/other, but AzVolumeAttachment data-n1-attachment "
     "names a different one"},
    {VOLUME("'detail':{'capacity_bytes':1000}"), NULL, 1000, NULL, ERR_BUSY,
     "AzVolume data has no disk on record yet"},
    {VOLUME(DETAIL("0")), NULL, 0, NULL, ERR_BUSY, "AzVolume data has no disk on record yet"},
    {"{'metadata':{'name':'data'}}", NULL, 1000, NULL, ERR_BUSY,
     "AzVolume data has no disk on record yet"},
    {GROWS("Updating", "1073741824", "3000000000"), NULL, 1073741824, "1073741824 -, 3221225472", 0,
     NULL},
    {GROWS("Updating", "1073741824", "3000000000"), NULL, 3221225472, "1073741824 -, 3221225472", 0,
     NULL},
    {GROWS("Updating", "1073741824", "3000000000"), NULL, 2147483648, NULL, ERR_PRECONDITION,
     "the volume has 2147483648 bytes according to its attachment, but 1073741824 according to "
     "its record" DISAGREE},
    {GROWS("Updated", "3221225472", "3000000000"), NULL, 3221225472, "3221225472 -", 0, NULL},
    {GROWS("Updated", "3221225472", "3000000000"), NULL, 1073741824, NULL, ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment does not have the size yet to which the volume has "
     "grown, 3221225472 bytes, but 1073741824"},
    {GROWS("Created", "1073741824", "3000000000"), NULL, 3221225472, NULL, ERR_PRECONDITION,
     "the volume has 3221225472 bytes according to its attachment, but 1073741824 according to "
     "its record" DISAGREE},
    {VOLUME(DETAIL("1000") "," NOTE("ext4")), NULL, 1000, NULL, ERR_INVALID,
     "AzVolume data: \"ext4\" is not a file system type followed by a UUID"},

    /* A copy; what is said of its origin counts while nothing is on record. */
    {VOLUME(DETAIL("1000") "," NOTES(SOURCE("xfs " OTHER))), NULL, 1000,
     "1000 -, a copy of xfs " OTHER, 0, NULL},
    {ACCEPTING("617A646B-1111-8111-8111-111111111111", DETAIL("1000")), NULL, 1000,
     "1000 -, accepting 617A646B-1111-8111-8111-111111111111", 0, NULL},
    {ACCEPTING(OTHER, DETAIL("1000") "," NOTES(SOURCE("ext4 " OTHER))), NULL, 1000,
     "1000 -, a copy of ext4 " OTHER ", accepting " OTHER, 0, NULL},
    {ACCEPTING("x", DETAIL("1000") "," NOTES("'disk.csi.azure.com/filesystem':'ext4 " OWN
                                             "'," SOURCE("x"))),
     NULL, 1000, "1000 ext4 " OWN, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTES(UUIDS(OTHER "  " OWN))), NULL, 1000,
     "1000 -, perhaps " OTHER " " OWN, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTES(SOURCE("ext4 " OTHER) "," UUIDS(FOUR " " FOUR " " OTHER))),
     NULL, 1000, "1000 -, a copy of ext4 " OTHER ", perhaps " FOUR " " FOUR, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTES("'disk.csi.azure.com/filesystem':'ext4 " OWN "'," UUIDS("x"))),
     NULL, 1000, "1000 ext4 " OWN, 0, NULL},
    {VOLUME(DETAIL("1000") "," NOTES(UUIDS(OTHER " x"))), NULL, 1000, NULL, ERR_INVALID,
     "AzVolume data: annotation disk.csi.azure.com/source-uuids: \"x\" is not the UUID of a file "
     "system"},
    {VOLUME(DETAIL("1000") "," NOTES(SOURCE(OTHER))), NULL, 1000, NULL, ERR_INVALID,
     "AzVolume data: \"" OTHER "\" is not a file system type followed by a UUID"},
    {ACCEPTING("ext4 " OTHER, DETAIL("1000")), NULL, 1000, NULL, ERR_INVALID,
     "AzVolume data: annotation disk.csi.azure.com/accept-filesystem of the PersistentVolume: "
     "\"ext4 " OTHER "\" is not the UUID of a file system"},
    {ACCEPTING("", DETAIL("1000")), NULL, 1000, NULL, ERR_INVALID,
     "AzVolume data: annotation disk.csi.azure.com/accept-filesystem of the PersistentVolume: "
     "\"\" is not the UUID of a file system"},
};

static char *describe(const struct volume_record *record)
{
    CLEANUP(freep)
    char *text = record->has_filesystem ? identity_format(&record->filesystem) : NULL;

    CLEANUP(freep) char *source = record->has_source ? identity_format(&record->source) : NULL;

    if (source || record->accepted[0] || record->possible[0])
        return mem_printf("%llu %s%s%s%s%s%s%s", (unsigned long long)record->size,
                          text ? text : "-", source ? ", a copy of " : "", source ? source : "",
                          record->possible[0] ? ", perhaps " : "", record->possible,
                          record->accepted[0] ? ", accepting " : "", record->accepted);
    if (record->grown_size)
        return mem_printf("%llu %s, %llu", (unsigned long long)record->size, text ? text : "-",
                          (unsigned long long)record->grown_size);
    return mem_printf("%llu %s", (unsigned long long)record->size, text ? text : "-");
}

static void test_what_is_said_twice(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *attachment = object_of(&api__az_volume_attachment__descriptor,
                                               "{'metadata':{'name':'data-n1-attachment'}}");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *volume = object_of(&api__az_volume__descriptor, rows[i].volume);
        struct attachment_place place = {.size = rows[i].size, .has_record = rows[i].said != NULL};
        struct volume_record record;

        if (rows[i].said)
            assert_ok(identity_parse(rows[i].said, &place.record));
        struct err *err = volume_record_check(KUBE_AS(Api__AzVolume, volume),
                                              KUBE_AS(Api__AzVolumeAttachment, attachment), &place,
                                              "/subscriptions/s/DATA", &record);
        if (rows[i].fault) {
            assert_fails(err, rows[i].kind, rows[i].fault);
            continue;
        }
        assert_ok(err);
        CLEANUP(freep) char *described = describe(&record);
        assert_string_equal(described, rows[i].record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_said_twice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
