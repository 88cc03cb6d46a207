/* What a copy of a disk that is begun now may have on it. */
#include "controller/cache/provenance.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "test/unit/controller/controller_of.h"

#define RECORD(notes)                                                                              \
    "{'volumes':[{'metadata':{'name':'v'},'spec':{'volumeName':'v'},"                              \
    "'status':{'detail':{'volume_id':'" GROUP_DISKS "v'},'annotation':{" notes "}}}]}"
#define OF(name, value) "'disk.csi.azure.com/" name "':'" value "'"
#define UUID "617a646b-1111-8111-8111-111111111111"
#define FORMER "617a646b-2222-8222-8222-222222222222"

static const struct {
    const char *what, *cluster, *filesystem, *uuids; /* "OWN" is what follows from the id */
} rows[] = {
    {"nothing is on record of it", "{}", NULL, "OWN"},
    {"it is empty, by its record", RECORD(""), NULL, "OWN"},
    {"it has been formatted", RECORD(OF("filesystem", "xfs " UUID)), "xfs " UUID, NULL},
    {"it is a copy that was never mounted", RECORD(OF("source-filesystem", "ext4 " UUID)),
     "ext4 " UUID, "OWN"},
    {"it is a copy that has a file system of its own",
     RECORD(OF("source-filesystem", "ext4 " FORMER) "," OF("filesystem", "ext4 " UUID)),
     "ext4 " UUID, NULL},
    {"it is a copy of an empty disk", RECORD(OF("source-uuids", FORMER)), NULL, "OWN " FORMER},
    {"a copy of a copy",
     RECORD(OF("source-filesystem", "ext4 " UUID) "," OF("source-uuids", FORMER)), "ext4 " UUID,
     "OWN " FORMER},
    {"it was a copy of an empty disk",
     RECORD(OF("source-uuids", FORMER) "," OF("filesystem", "ext4 " UUID)), "ext4 " UUID, NULL},
};

static char *with_own(const char *uuids)
{
    char own[UUID_SIZE];

    identity_derive(GROUP_DISKS "v", own);
    return uuids ? mem_printf("%s%s", own, uuids + strlen("OWN")) : NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void test_copies_of_a_disk(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);
        CLEANUP(provenance_fini) struct provenance found = {0};
        CLEANUP(freep) char *uuids = with_own(rows[i].uuids);

        provenance_of_disk(&controller, GROUP_DISKS "V", &found);
        if (!same(found.filesystem, rows[i].filesystem) || !same(found.uuids, uuids))
            fail_msg("%s: %s, or perhaps %s", rows[i].what, found.filesystem, found.uuids);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_of_a_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
