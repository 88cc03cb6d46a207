/* What VMs do with disks, as scripts (script.h): a new rule is a new row. */
#include "test/unit/test/azsim/model/script.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

struct row {
    const char *why, *script;
};

static const struct row attaching[] = {
    {"a disk is attached when the operation ends, and stays Unattached until then",
     "disk a\n"
     "attach vm1 a\n"
     "model vm1 a@0\n"
     "actual vm1\n"
     "state a Unattached\n"
     "vm vm1 Updating\n"
     "wait 9999ms\n"
     "devices\n"
     "operation 2 InProgress\n"
     "wait 1ms\n"
     "devices +a@vm1:0\n"
     "actual vm1 a@0\n"
     "state a Attached vm1\n"
     "vm vm1 Succeeded\n"
     "operation 2 Succeeded\n"},
    {"several disks in one request get the lowest free LUNs, or those they ask for",
     "disk a\ndisk b\ndisk c\n"
     "attach vm1 a@1 b c\n"
     "model vm1 a@1 b@0 c@2\n"
     "wait 10s\n"
     "devices +a@vm1:1 +b@vm1:0 +c@vm1:2\n"},
    {"a shared disk on two VMs, and not on a third", "disk a 10 2\n"
                                                     "attach vm1 a\n"
                                                     "wait 1s\n"
                                                     "attach vm2 a@5\n"
                                                     "attach plain a -> InvalidParameter\n"
                                                     "attach small a -> ConflictingUserInput\n"
                                                     "wait 10s\n"
                                                     "state a Attached vm1 vm2\n"
                                                     "attach small a -> ConflictingUserInput\n"
                                                     "detach vm1 a\n"
                                                     "attach small a -> ConflictingUserInput\n"
                                                     "wait 5s\n"
                                                     "attach small a\n"
                                                     "wait 10s\n"
                                                     "state a Attached vm2 small\n"},
    {"two VMs that begin to attach a shared disk at the same moment",
     "disk a 10 3\n"
     "attach vm1 a\n"
     "wait 199ms\n"
     "attach vm2 a -> ConflictingUserInput\n"
     "wait 1ms\n"
     "attach vm2 a\n"
     "wait 10s\n"
     "state a Attached vm1 vm2\n"},
    {"a disk that is not shared belongs to the VM that was first",
     "disk a\n"
     "attach vm1 a\n"
     "wait 1s\n"
     "attach vm2 a -> ConflictingUserInput\n"
     "wait 10s\n"
     "attach vm2 a -> ConflictingUserInput\n"},
    {"attaching what is attached changes nothing", "disk a\n"
                                                   "attach vm1 a@3\n"
                                                   "wait 10s\n"
                                                   "attach vm1 a\n"
                                                   "wait 2s\n"
                                                   "model vm1 a@3\n"
                                                   "attach vm1 a@3\n"
                                                   "wait 2s\n"
                                                   "attach vm1 a@4 -> InvalidParameter\n"
                                                   "devices +a@vm1:3\n"},
    {"LUNs are unique and in range", "disk a\ndisk b\n"
                                     "attach vm1 a@64 -> InvalidParameter\n"
                                     "attach vm1 a@0 b@0 -> InvalidParameter\n"
                                     "attach vm1 a@63\n"
                                     "wait 10s\n"
                                     "attach vm1 b@63 -> InvalidParameter\n"},
    {"as many disks as the VM's size takes", "disk a\ndisk b\ndisk c\n"
                                             "attach small a b c -> OperationNotAllowed\n"
                                             "attach small a b\n"
                                             "wait 10s\n"
                                             "attach small c -> OperationNotAllowed\n"
                                             "list small a@0- b@1 c@2\n"
                                             "wait 10s\n"
                                             "model small b@1 c@2\n"},
    {"zones: the VM's own, or none for a zone-redundant disk",
     "disk a\n"
     "disk zrs 10 1 Premium_ZRS\n"
     "disk nowhere 10 1 Premium_LRS none\n"
     "attach far a -> BadRequest\n"
     "attach far zrs\n"
     "attach vm1 nowhere -> BadRequest\n"
     "attach regional a -> BadRequest\n"
     "attach regional nowhere\n"
     "attach vm1 a\n"},
    {"sizes without Premium disks take Standard ones", "disk a\n"
                                                       "disk s 10 1 StandardSSD_LRS\n"
                                                       "attach plain a -> InvalidParameter\n"
                                                       "attach plain s\n"},
    {"what does not exist, is being made, or goes", "attach vm1 a -> NotFound\n"
                                                    "disk a\n"
                                                    "delete a\n"
                                                    "attach vm1 a -> Conflict\n"
                                                    "wait 1s\n"
                                                    "attach vm1 a -> NotFound\n"
                                                    "devices xa\n"},
    {"a disk can be deleted while it attaches, and leaves a gap in the model",
     "disk a\n"
     "attach vm1 a\n"
     "delete a\n"
     "wait 10s\n"
     "operation 2 Succeeded\n"
     "model vm1 a@0\n"
     "actual vm1\n"
     "state a gone\n"
     "devices xa\n"
     "disk b\n"
     "list vm1 a@0 b@1 -> NotFound\n"
     "attach vm1 b\n"
     "wait 10s\n"
     "model vm1 a@0 b@1\n"
     "disk a\n" /* another one of that name */
     "attach vm1 a@2\n"
     "wait 10s\n"
     "model vm1 b@1 a@2\n"
     "actual vm1 b@1 a@2\n"},
};

static const struct row detaching[] = {
    {"a disk is detached when the operation ends, and listed until then",
     "disk a\n"
     "attach vm1 a\n"
     "wait 10s\n"
     "detach vm1 a\n"
     "model vm1 a@0-\n"
     "actual vm1 a@0\n"
     "state a Attached vm1\n"
     "wait 5s\n"
     "model vm1\n"
     "actual vm1\n"
     "state a Unattached\n"
     "devices +a@vm1:0 -a@vm1:0\n"},
    {"what is not attached cannot be detached", "disk a\n"
                                                "detach vm1 a -> DetachUnattachedDisk\n"
                                                "list vm1 a@0- -> DetachUnattachedDisk\n"},
    {"by marking it in the list, and by leaving it out", "disk a\ndisk b\ndisk c\n"
                                                         "list vm1 a@0 b@1 c@2\n"
                                                         "wait 10s\n"
                                                         "list vm1 a@0- b@1\n"
                                                         "model vm1 a@0- b@1\n"
                                                         "actual vm1 a@0 b@1 c@2\n"
                                                         "wait 5s\n"
                                                         "model vm1 b@1\n"
                                                         "actual vm1 b@1\n"},
    {"attaching a disk that is being detached", "disk a\n"
                                                "attach vm1 a\n"
                                                "wait 10s\n"
                                                "list vm1 a@0-\n"
                                                "list vm1 a@0-\n"
                                                "wait 1s\n"
                                                "attach vm1 a -> AttachDiskWhileBeingDetached\n"
                                                "wait 5s\n"
                                                "attach vm1 a\n"},
    {"by force it takes no time and ends what runs", "disk a\ndisk b\n"
                                                     "attach vm1 a\n"
                                                     "wait 10s\n"
                                                     "attach vm1 b\n"
                                                     "wait 1s\n"
                                                     "detach vm1 a!\n"
                                                     "operation 4 Failed DataDisksForceDetached\n"
                                                     "wait 1ms\n"
                                                     "actual vm1 b@1\n"
                                                     "state a Unattached\n"},
};

static const struct row lists[] = {
    {"a LUN cannot pass to another disk, nor a disk to another LUN",
     "disk a\ndisk b\n"
     "list vm1 a@0\n"
     "wait 10s\n"
     "list vm1 b@0 -> PropertyChangeNotAllowed\n"
     "list vm1 a@1 -> PropertyChangeNotAllowed\n"
     "list vm1 a@0 b@0 -> InvalidParameter\n"
     "list vm1 a@0 a@0 -> InvalidParameter\n"},
    {"a LUN whose disk is still being detached is taken", "disk a\ndisk b\n"
                                                          "list vm1 a@0\n"
                                                          "wait 10s\n"
                                                          "list vm1\n"
                                                          "list vm1 b@0 -> InvalidParameter\n"
                                                          "wait 5s\n"
                                                          "list vm1 b@0\n"},
    {"a newer list preempts the older one and inherits what it wanted",
     "disk a\ndisk b\n"
     "list vm1 a@0\n"
     "wait 4s\n"
     "list vm1 a@0 b@1\n"
     "operation 3 Failed OperationPreempted\n"
     "vm vm1 Updating\n"
     "wait 9s\n"
     "actual vm1\n"
     "wait 1s\n"
     "actual vm1 a@0 b@1\n"
     "operation 4 Succeeded\n"},
    {"a newer list can take back what the older one wanted",
     "disk a\n"
     "list vm1 a@0\n"
     "wait 4s\n"
     "list vm1\n"
     "wait 1s\n"
     "attach vm2 a\n" /* its share is free at once */
     "wait 10s\n"
     "state a Attached vm2\n"},
    {"attachDetachDataDisks is refused while anything runs", "disk a\ndisk b\n"
                                                             "attach vm1 a\n"
                                                             "attach vm1 b -> Conflict\n"
                                                             "detach vm1 a -> Conflict\n"
                                                             "wait 10s\n"
                                                             "touch vm1\n"
                                                             "attach vm1 b -> Conflict\n"
                                                             "wait 2s\n"
                                                             "attach vm1 b\n"},
    {"an update that changes nothing starts no operation that can be followed",
     "disk a\n"
     "touch vm1\n"
     "vm vm1 Updating\n"
     "wait 2s\n"
     "vm vm1 Succeeded\n"
     "attach vm1 a\n"
     "operation 2 InProgress\n"},
};

static const struct row failing[] = {
    {"what failed stays wanted, its neighbours succeed, and any update tries again",
     "disk a\ndisk b\n"
     "break a\n"
     "attach vm1 a b\n"
     "wait 10s\n"
     "operation 3 Failed InternalExecutionError\n"
     "vm vm1 Failed InternalExecutionError\n"
     "model vm1 a@0 b@1\n"
     "actual vm1 b@1\n"
     "state a Unattached\n"
     "touch vm1\n"
     "wait 10s\n"
     "vm vm1 Failed InternalExecutionError\n"
     "mend\n"
     "touch vm1\n"
     "wait 10s\n"
     "vm vm1 Succeeded\n"
     "actual vm1 b@1 a@0\n"},
    {"a disk that another VM took meanwhile keeps failing until it is detached",
     "disk a\ndisk b\n"
     "break a\n"
     "attach vm1 a\n"
     "wait 10s\n"
     "mend\n"
     "attach vm2 a\n"
     "wait 10s\n"
     "attach vm1 b\n"
     "wait 10s\n"
     "vm vm1 Failed ConflictingUserInput\n"
     "actual vm1 b@1\n"
     "detach vm1 a\n"
     "wait 5s\n"
     "vm vm1 Succeeded\n"
     "state a Attached vm2\n"},
};

static const struct row states[] = {
    {"disks of a deallocated VM are Reserved", "disk a 10 2\n"
                                               "attach vm1 a\n"
                                               "wait 10s\n"
                                               "power vm1 stopped\n"
                                               "state a Attached vm1\n"
                                               "power vm1 deallocated\n"
                                               "state a Reserved vm1\n"
                                               "attach vm2 a\n"
                                               "wait 10s\n"
                                               "state a Attached vm1 vm2\n"
                                               "power vm1 running\n"
                                               "state a Attached vm1 vm2\n"},
    {"those of one that hibernates are Frozen", "disk a 10 2\n"
                                                "attach vm1 a\n"
                                                "wait 10s\n"
                                                "attach vm2 a\n"
                                                "wait 10s\n"
                                                "power vm1 hibernated\n"
                                                "state a Attached vm1 vm2\n"
                                                "power vm2 deallocated\n"
                                                "state a Frozen vm1 vm2\n"
                                                "power vm1 running\n"
                                                "state a Attached vm1 vm2\n"},
    {"a VM that is deleted lets its disks go at the end", "disk a\n"
                                                          "attach vm1 a\n"
                                                          "wait 10s\n"
                                                          "devices +a@vm1:0\n"
                                                          "remove vm1\n"
                                                          "vm vm1 Deleting\n"
                                                          "attach vm1 a -> OperationNotAllowed\n"
                                                          "touch vm1 -> OperationNotAllowed\n"
                                                          "state a Attached vm1\n"
                                                          "wait 1s\n"
                                                          "vm vm1 gone\n"
                                                          "state a Unattached\n"
                                                          "devices -a@vm1:0\n"
                                                          "operation 3 Succeeded\n"},
    {"and while it attaches", "disk a\n"
                              "attach vm1 a\n"
                              "remove vm1\n"
                              "operation 2 Failed OperationPreempted\n"
                              "wait 1s\n"
                              "devices\n"
                              "attach vm2 a\n"},
    {"an attached disk is not deleted, not even when the attach is faster",
     "disk a\n"
     "attach vm1 a\n"
     "wait 9500ms\n"
     "delete a\n"
     "wait 500ms\n"
     "state a Attached vm1\n"
     "wait 500ms\n"
     "operation 3 Failed OperationNotAllowed\n"
     "delete a -> OperationNotAllowed\n"},
};

static const struct row owners[] = {
    {"what a disk tells of its owners comes late, and what Azure allows does not wait for it",
     "latency ownership=5s\n"
     "disk a 10 2\n"
     "attach vm1 a\n"
     "wait 10s\n"
     "state a Attached vm1\n"
     "shown a Unattached\n"
     "delete a -> OperationNotAllowed\n"
     "wait 4999ms\n"
     "shown a Unattached\n"
     "wait 1ms\n"
     "shown a Attached vm1\n"
     "detach vm1 a\n"
     "wait 5s\n"
     "state a Unattached\n"
     "shown a Attached vm1\n"
     "attach vm2 a\n"
     "wait 5s\n"
     "shown a Unattached\n"
     "wait 10s\n"
     "shown a Attached vm2\n"},
    {"by default it is told as the operation ends", "disk a\n"
                                                    "attach vm1 a\n"
                                                    "wait 10s\n"
                                                    "shown a Attached vm1\n"
                                                    "power vm1 deallocated\n"
                                                    "shown a Reserved vm1\n"
                                                    "power vm1 running\n"
                                                    "detach vm1 a\n"
                                                    "wait 5s\n"
                                                    "shown a Unattached\n"
                                                    "attach vm1 a\n"
                                                    "wait 10s\n"
                                                    "detach vm1 a!\n"
                                                    "wait 1ms\n"
                                                    "shown a Unattached\n"},
    {"a disk names a VM that is gone for a while", "latency orphan=30s\n"
                                                   "disk a\n"
                                                   "attach vm1 a\n"
                                                   "wait 10s\n"
                                                   "remove vm1\n"
                                                   "wait 30s\n"
                                                   "vm vm1 gone\n"
                                                   "shown a Attached vm1\n"
                                                   "wait 1s\n"
                                                   "shown a Unattached\n"},
    {"until it is attached to another one", "latency orphan=30s\n"
                                            "disk a\n"
                                            "attach vm1 a\n"
                                            "wait 10s\n"
                                            "remove vm1\n"
                                            "wait 1s\n"
                                            "attach vm2 a\n"
                                            "wait 9s\n"
                                            "shown a Attached vm1\n"
                                            "wait 1s\n"
                                            "shown a Attached vm2\n"},
    {"after a restart it tells what is", "latency ownership=5s\n"
                                         "disk a\n"
                                         "attach vm1 a\n"
                                         "wait 10s\n"
                                         "shown a Unattached\n"
                                         "stop\nstart\n"
                                         "shown a Attached vm1\n"},
    {"a deleted disk tells nothing any more", "latency ownership=5s\n"
                                              "disk a\n"
                                              "attach vm1 a\n"
                                              "wait 20s\n"
                                              "detach vm1 a\n"
                                              "wait 5s\n"
                                              "delete a\n"
                                              "wait 10s\n"
                                              "state a gone\n"},
};

static const struct row scale_sets[] = {
    {"VMs of scale sets attach as others do", "disk a 10 3\n"
                                              "attach uniform a\n"
                                              "wait 1s\n"
                                              "attach flexible a@3\n"
                                              "wait 1s\n"
                                              "attach vm1 a\n"
                                              "wait 10s\n"
                                              "state a Attached uniform flexible vm1\n"
                                              "shown a Attached 7 flexible vm1\n"
                                              "devices +a@uniform:0 +a@flexible:3 +a@vm1:0\n"},
    {"and go on after a restart", "disk a\n"
                                  "attach uniform a\n"
                                  "wait 1s\n"
                                  "stop\nstart\n"
                                  "vm uniform Updating\n"
                                  "wait 9s\n"
                                  "actual uniform a@0\n"
                                  "remove uniform\n"
                                  "wait 1s\n"
                                  "vm uniform gone\n"
                                  "stop\nstart\n"
                                  "vm uniform gone\n"
                                  "vm flexible Succeeded\n"},
};

static const struct row turns[] = {
    {"superseded: a newer change ends an older one, whatever their kinds",
     "setting concurrentUpdates superseded\n"
     "disk a\ndisk b\n"
     "attach vm1 a\n"
     "attach vm1 b\n"
     "operation 3 Failed OperationPreempted\n"
     "wait 10s\n"
     "actual vm1 a@0 b@1\n"
     "operation 4 Succeeded\n"},
    {"refused: a newer change has to wait, by force it does not",
     "setting concurrentUpdates refused\n"
     "disk a\ndisk b\n"
     "attach vm1 a\n"
     "list vm1 a@0 b@1 -> Conflict\n"
     "touch vm1 -> Conflict\n"
     "act vm1 reapply -> Conflict\n"
     "wait 10s\n"
     "attach vm1 b\n"
     "detach vm1 a!\n"
     "wait 1s\n"
     "actual vm1 b@1\n"},
};

static const struct row actions[] = {
    {"power is changed by operations", "disk a\n"
                                       "attach vm1 a\n"
                                       "wait 10s\n"
                                       "devices +a@vm1:0\n"
                                       "act vm1 deallocate\n"
                                       "vm vm1 Updating\n"
                                       "runs vm1 deallocating\n"
                                       "state a Attached vm1\n"
                                       "wait 3s\n"
                                       "runs vm1 deallocated\n"
                                       "state a Reserved vm1\n"
                                       "act vm1 start\n"
                                       "runs vm1 starting\n"
                                       "wait 3s\n"
                                       "runs vm1 running\n"
                                       "devices ^vm1\n"
                                       "state a Attached vm1\n"
                                       "act vm1 powerOff\n"
                                       "runs vm1 stopping\n"
                                       "wait 3s\n"
                                       "runs vm1 stopped\n"
                                       "state a Attached vm1\n"},
    {"reapply tries again what failed", "disk a\n"
                                        "break a\n"
                                        "attach vm1 a\n"
                                        "wait 10s\n"
                                        "vm vm1 Failed InternalExecutionError\n"
                                        "mend\n"
                                        "act vm1 reapply\n"
                                        "wait 10s\n"
                                        "vm vm1 Succeeded\n"
                                        "actual vm1 a@0\n"},
    {"not of a VM that is being deleted", "remove vm1\n"
                                          "act vm1 start -> OperationNotAllowed\n"},
    {"a change of power goes on after a restart", "act vm1 deallocate\n"
                                                  "wait 1s\n"
                                                  "stop\nstart\n"
                                                  "runs vm1 deallocating\n"
                                                  "wait 2s\n"
                                                  "runs vm1 deallocated\n"},
    {"Ultra disks go to VMs that may have them", "disk u 10 1 UltraSSD_LRS\n"
                                                 "attach vm1 u -> InvalidParameter\n"
                                                 "attach ultra u\n"
                                                 "wait 10s\n"
                                                 "actual ultra u@0\n"},
};

static const struct row restarts[] = {
    {"an attach goes on after a restart and ends at its time",
     "disk a 10 2\n"
     "attach vm2 a@7\n"
     "wait 1s\n"
     "attach vm1 a\n"
     "wait 4s\n"
     "stop\nstart\n"
     "vm vm1 Updating\n"
     "model vm1 a@0\n"
     "attach small a -> ConflictingUserInput\n"
     "attach vm1 a -> Conflict\n"
     "wait 5s\n"
     "state a Attached vm2\n"
     "wait 999ms\n"
     "state a Attached vm2\n"
     "wait 1ms\n"
     "state a Attached vm2 vm1\n"
     "operation 3 Succeeded\n"
     "stop\nstart\n"
     "state a Attached vm2 vm1\n"
     "operation 3 Succeeded\n"
     "detach vm2 a\n"
     "wait 5s\n"
     "state a Attached vm1\n"},
    {"what fell due while nobody was there is done at once", "disk a\n"
                                                             "attach vm1 a\n"
                                                             "wait 2s\n"
                                                             "stop\nstart\n"
                                                             "wait 8s\n"
                                                             "devices +a@vm1:0\n"},
    {"a failed VM is still failed, and the reason known",
     "disk a\n"
     "break a\n"
     "attach vm1 a\n"
     "wait 10s\n"
     "stop\nstart\n"
     "vm vm1 Failed InternalExecutionError\n"
     "operation 2 Failed InternalExecutionError\n"
     "mend\n"
     "touch vm1\n"
     "wait 10s\n"
     "actual vm1 a@0\n"},
    {"a deletion under way, a VM that is gone", "disk a\n"
                                                "remove far\n"
                                                "delete a\n"
                                                "stop\nstart\n"
                                                "attach vm1 a -> Conflict\n"
                                                "wait 1s\n"
                                                "state a gone\n"
                                                "stop\nstart\n"
                                                "state a gone\n"
                                                "operation 1 Succeeded\n"},
};

static void run_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world *world = world_new();

        print_message("  %s\n", rows[i].why);
        world_run(world, rows[i].script);
        world_free(world);
    }
}

#define ROWS_TEST(rows)                                                                            \
    static void test_##rows(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run_rows(rows, COUNT_OF(rows));                                                            \
    }

ROWS_TEST(attaching)
ROWS_TEST(detaching)
ROWS_TEST(lists)
ROWS_TEST(failing)
ROWS_TEST(states)
ROWS_TEST(owners)
ROWS_TEST(scale_sets)
ROWS_TEST(turns)
ROWS_TEST(actions)
ROWS_TEST(restarts)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attaching),  cmocka_unit_test(test_detaching),
        cmocka_unit_test(test_lists),      cmocka_unit_test(test_failing),
        cmocka_unit_test(test_states),     cmocka_unit_test(test_owners),
        cmocka_unit_test(test_scale_sets), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_actions),    cmocka_unit_test(test_restarts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
