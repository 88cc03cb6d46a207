/* Every situation is one row: words that say what is so, and the step that follows. */
#include "controller/volume/plan.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const char *const step_names[] = {
    [VOLUME_NONE] = "none",
    [VOLUME_ADD_FINALIZER] = "add-finalizer",
    [VOLUME_REMOVE_FINALIZER] = "remove-finalizer",
    [VOLUME_RECORD_CREATING] = "record-creating",
    [VOLUME_CREATE] = "create",
    [VOLUME_REFUSE] = "refuse",
    [VOLUME_ADOPT] = "adopt",
    [VOLUME_RECORD_FILESYSTEM] = "record-filesystem",
    [VOLUME_GROW] = "grow",
    [VOLUME_MODIFY] = "modify",
    [VOLUME_READ_DISK] = "read-disk",
    [VOLUME_RECORD_GROWN] = "record-grown",
    [VOLUME_RELEASE] = "release",
    [VOLUME_DELETE] = "delete",
    [VOLUME_CHECK_UNATTACHED] = "check-unattached",
    [VOLUME_REQUEUE] = "requeue",
    [VOLUME_FORGET] = "forget",
    [VOLUME_FOLLOW_PV] = "follow",
    [VOLUME_CHECK_PV_GONE] = "check-pv",
    [VOLUME_END] = "end",
};

static const struct {
    const char *why, *words, *step;
} rows[] = {
    {"a new one gets its finalizer first", "", "add-finalizer"},
    {"that its disk is being made goes on record before it is", "finalizer", "record-creating"},
    {"then it is made", "finalizer creating", "create"},
    {"once", "finalizer created", "none"},
    {"a creation that failed for good waits to be asked for", "finalizer failed", "none"},
    {"not for ever, after an answer that said so", "finalizer failed goes", "requeue"},
    {"then it is forgotten", "finalizer failed goes now", "forget"},
    {"what was restored without its status is no request for a disk", "finalizer restored",
     "refuse"},
    {"if its disk is known, that one is looked at", "finalizer restored has-disk", "adopt"},
    {"a volume that is well stays, whatever was noted once", "finalizer created goes now", "none"},
    {"a disk that was there is looked at", "finalizer has-disk pre-provisioned", "adopt"},
    {"and so is one that the driver once made", "finalizer has-disk", "adopt"},
    {"and looked at again when that has failed", "finalizer has-disk pre-provisioned failed",
     "adopt"},
    {"even if the record of its making stopped halfway", "finalizer has-disk creating", "adopt"},
    {"what a disk is that was adopted by a version that did not ask is asked",
     "finalizer created has-disk unseen", "adopt"},
    {"the disk of a volume that was adopted goes with it",
     "finalizer created has-disk deleting requested", "delete"},
    {"the file system goes on record", "finalizer created news", "record-filesystem"},

    {"whose claim has it is on record", "finalizer created pv-changed", "follow"},
    {"of a disk that is not there, too", "finalizer has-disk failed pv-changed", "follow"},
    {"without its PersistentVolume: whoever knows is asked", "finalizer created pv-missing other",
     "check-pv"},
    {"then its replicas go", "finalizer created pv-missing pv-gone other leaving", "release"},
    {"and are waited for", "finalizer created pv-missing pv-gone leaving", "none"},
    {"then the record", "finalizer created pv-missing pv-gone", "end"},
    {"also that of a disk that never came", "finalizer has-disk failed pv-missing pv-gone", "end"},
    {"and of one whose PersistentVolume is another now", "finalizer created pv-gone", "end"},
    {"not while somebody has it published", "finalizer created pv-missing primary", "none"},
    {"and not with what is to be deleted", "finalizer created pv-missing requested", "none"},

    {"a published volume stays", "finalizer created deleting requested primary", "none"},
    {"even without a request", "finalizer created deleting primary other", "none"},
    {"its replicas go first", "finalizer created deleting requested other leaving", "release"},
    {"and are waited for", "finalizer created deleting requested leaving", "none"},
    {"then the disk", "finalizer created deleting requested", "delete"},
    {"then whoever knows is asked whether anything is left",
     "finalizer created deleting requested disk-gone", "check-unattached"},
    {"then the record", "finalizer created deleting requested disk-gone unattached",
     "remove-finalizer"},
    {"a disk that may exist although it is on no record", "finalizer failed deleting requested",
     "delete"},
    {"without a request the disk stays", "finalizer created deleting unattached",
     "remove-finalizer"},
    {"what a claim has is written anew, whoever uses it",
     "finalizer created deleting claimed primary other leaving", "remove-finalizer"},
    {"but not what is to be deleted", "finalizer created deleting requested claimed", "delete"},
    {"a disk that was there before stays",
     "finalizer created deleting requested pre-provisioned unattached", "remove-finalizer"},
    {"nothing of ours holds it", "created deleting requested", "none"},

    {"a disk grows when that is requested", "finalizer created updating larger", "grow"},
    {"while its VM has it, if that is possible",
     "finalizer created updating larger online in-use primary", "grow"},
    {"else not while it is published, but it may have grown before",
     "finalizer created updating larger primary other", "read-disk"},
    {"which is asked once", "finalizer created updating larger primary other disk-read", "none"},
    {"nor while a pod is about to have it published",
     "finalizer created updating larger in-use other", "read-disk"},
    {"in between its replicas leave", "finalizer created updating larger other leaving", "release"},
    {"unless they are to stay", "finalizer created updating larger other stay", "read-disk"},
    {"and are waited for", "finalizer created updating larger leaving disk-read", "none"},
    {"a disk that is as large as requested may be larger, if somebody else made it so",
     "finalizer created updating", "read-disk"},
    {"then its size is on record", "finalizer created updating disk-read", "record-grown"},
    {"not while data is copied", "finalizer created updating larger online copying disk-read",
     "none"},
    {"no replica leaves for it then", "finalizer created updating larger other copying disk-read",
     "none"},
    {"but what a former leader has done counts", "finalizer created updating larger copying",
     "read-disk"},
    {"a modification does not wait for that",
     "finalizer created updating larger online copying disk-read modify hot", "modify"},
    {"without a request a range makes no disk larger", "finalizer created larger", "none"},
    {"a volume that is to be deleted does not grow",
     "finalizer created updating larger deleting requested", "delete"},

    {"a disk that is to be modified is read first", "finalizer created modify hot", "read-disk"},
    {"a disk is modified when that is requested", "finalizer created modify disk-read", "modify"},
    {"while its VM has it, if that is possible",
     "finalizer created modify hot in-use primary other disk-read", "modify"},
    {"else not while a pod uses it", "finalizer created modify in-use other disk-read", "none"},
    {"nor while it is published", "finalizer created modify primary disk-read", "none"},
    {"in between its replicas leave", "finalizer created modify other leaving disk-read",
     "release"},
    {"unless they are to stay", "finalizer created modify other stay disk-read", "none"},
    {"and are waited for", "finalizer created modify leaving disk-read", "none"},
    {"Azure is asked once", "finalizer created modify hot at-work", "none"},
    {"a growth that can be done goes first", "finalizer created modify hot updating larger online",
     "grow"},
    {"one that cannot is not waited for",
     "finalizer created modify hot updating larger disk-read in-use", "modify"},
    {"nor the other way round", "finalizer created modify updating larger online in-use", "grow"},
    {"a volume that is to be deleted is not modified",
     "finalizer created modify hot deleting requested", "delete"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *words = rows[i].words;
        struct volume_snapshot in = {
            .deleting = strstr(words, "deleting"),
            .has_finalizer = strstr(words, "finalizer"),
            .created = strstr(words, "created"),
            .creating = strstr(words, "creating"),
            .failed = strstr(words, "failed"),
            .goes = strstr(words, "goes"),
            .goes_now = strstr(words, "now"),
            .restored = strstr(words, "restored"),
            .has_disk = strstr(words, "has-disk"),
            .pre_provisioned = strstr(words, "pre-provisioned"),
            .unseen = strstr(words, "unseen"),
            .delete_requested = strstr(words, "requested"),
            .claimed = strstr(words, "claimed"),
            .pv_changed = strstr(words, "pv-changed"),
            .pv_missing = strstr(words, "pv-missing"),
            .pv_gone = strstr(words, "pv-gone"),
            .disk_deleted = strstr(words, "disk-gone"),
            .unattached = strstr(words, "unattached"),
            .primaries = strstr(words, "primary") ? 1 : 0,
            .others = strstr(words, "other") ? 1 : 0,
            .leaving = strstr(words, "leaving") ? 1 : 0,
            .has_new_filesystem = strstr(words, "news"),
            .updating = strstr(words, "updating"),
            .size_differs = strstr(words, "larger"),
            .grows_attached = strstr(words, "online"),
            .copying = strstr(words, "copying"),
            .in_use = strstr(words, "in-use"),
            .replicas_stay = strstr(words, "stay"),
            .disk_read = strstr(words, "disk-read"),
            .modifying = strstr(words, "modify"),
            .modifies_attached = strstr(words, "hot"),
            .modify_requested = strstr(words, "at-work"),
        };
        const char *step = step_names[volume_next(&in)];

        if (strcmp(step, rows[i].step) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].step, step);
    }
}

/* Over all snapshots that there are. */
static void test_a_disk_goes_only_when_it_may(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 1u << 18; bits++) {
        struct volume_snapshot in = {
            .deleting = bits & 1,
            .has_finalizer = bits & 2,
            .created = bits & 4,
            .creating = bits & 8,
            .failed = bits & 16,
            .pre_provisioned = bits & 32,
            .delete_requested = bits & 64,
            .disk_deleted = bits & 128,
            .primaries = bits >> 8 & 1,
            .others = bits >> 9 & 1,
            .leaving = bits >> 10 & 1,
            .has_new_filesystem = bits & 2048,
            .goes = bits & 4096,
            .goes_now = bits & 4096,
            .claimed = bits & 8192,
            .unattached = bits & 16384,
            .pv_missing = bits & 32768,
            .pv_gone = bits & 65536,
            .restored = bits & 131072,
        };
        enum volume_step step = volume_next(&in);
        unsigned attachments = in.primaries + in.others + in.leaving;

        if (step == VOLUME_DELETE)
            assert_true(in.deleting && in.delete_requested && !in.pre_provisioned && !attachments);
        if (step == VOLUME_REMOVE_FINALIZER)
            assert_true(in.deleting &&
                        ((!attachments && in.unattached) || (in.claimed && !in.delete_requested)));
        if (step == VOLUME_RELEASE)
            assert_true((in.deleting || in.pv_gone) && !in.primaries);
        if (step == VOLUME_END)
            assert_true(in.pv_gone && !in.deleting && !attachments && !in.delete_requested);
        if (step == VOLUME_FORGET)
            assert_true(in.failed && in.goes_now && !in.created && !in.deleting);
        if (step == VOLUME_CREATE)
            assert_true(!in.deleting && in.creating && !in.created && !in.failed && !in.restored);
    }
}

/* The same. */
static void test_a_disk_is_changed_only_when_it_can(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 1u << 16; bits++) {
        struct volume_snapshot in = {
            .deleting = bits & 1,
            .has_finalizer = true,
            .created = bits & 2,
            .primaries = bits >> 2 & 1,
            .others = bits >> 3 & 1,
            .leaving = bits >> 4 & 1,
            .updating = bits & 32,
            .size_differs = bits & 64,
            .grows_attached = bits & 128,
            .in_use = bits & 256,
            .replicas_stay = bits & 512,
            .pv_changed = bits & 1024,
            .delete_requested = bits & 2048,
            .modifying = bits & 4096,
            .modifies_attached = bits & 8192,
            .copying = bits & 16384,
            .disk_read = bits & 32768,
        };
        enum volume_step step = volume_next(&in);
        unsigned attachments = in.primaries + in.others + in.leaving;
        bool free = !attachments && !in.in_use;

        if (step == VOLUME_GROW)
            assert_true(in.updating && in.size_differs && in.created && !in.deleting &&
                        !in.copying && (in.grows_attached || free));
        if (step == VOLUME_MODIFY)
            assert_true(in.modifying && in.created && !in.deleting &&
                        (in.modifies_attached || free));
        if (step == VOLUME_RELEASE && !in.deleting)
            assert_true(
                ((in.updating && !in.grows_attached) || (in.modifying && !in.modifies_attached)) &&
                !in.in_use && !in.primaries && !in.replicas_stay);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_a_disk_goes_only_when_it_may),
        cmocka_unit_test(test_a_disk_is_changed_only_when_it_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
