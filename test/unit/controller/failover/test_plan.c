/* Each row is what is known of a node, and what comes next for it. */
#include "controller/failover/plan.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* ---- nodes ---- */

#define LIMITS .n_overdue_most = 2, .n_recent_most = 10
#define NODE_IN(cloud) LIMITS, cloud, .has_node = true, .has_boot_id = true
#define NODE NODE_IN(.machine = MACHINE_MAY_RUN)
#define SILENT_IN(cloud) NODE_IN(cloud), .silent = true
#define SILENT SILENT_IN(.machine = MACHINE_MAY_RUN)
#define GIVEN_UP NODE, .out_of_service = true, .ours = true
#define DELETED_IN(cloud) LIMITS, cloud, .deleted = true, .has_boot_id = true, .n_unreleased = 1
#define DELETED DELETED_IN(.machine = MACHINE_MAY_RUN)
#define ASK_CLOUD .machine = MACHINE_TO_ASK
#define OFF .machine = MACHINE_IS_OFF
#define STAND_IN GIVEN_UP, .stand_in = true
#define VOLUMES(...)                                                                               \
    .volumes = (const struct failover_volume[]){__VA_ARGS__},                                      \
    .n_volumes =                                                                                   \
        sizeof((const struct failover_volume[]){__VA_ARGS__}) / sizeof(struct failover_volume)

#define NEW                                                                                        \
    {                                                                                              \
        .wanted = true, .fenced = true, .n_replicas = 2                                            \
    }
#define ASKED                                                                                      \
    {                                                                                              \
        .wanted = true, .fenced = true, .n_replicas = 2, .n_asked = 1                              \
    }
#define ALL_ASKED                                                                                  \
    {                                                                                              \
        .wanted = true, .fenced = true, .n_replicas = 2, .n_asked = 2                              \
    }
#define PROVEN                                                                                     \
    {                                                                                              \
        .wanted = true, .fenced = true, .n_replicas = 2, .n_asked = 1, .proven = true              \
    }
#define UNWANTED                                                                                   \
    {                                                                                              \
        .fenced = true, .n_replicas = 2                                                            \
    }
#define UNFENCED                                                                                   \
    {                                                                                              \
        .wanted = true, .n_replicas = 2                                                            \
    }
#define ALONE                                                                                      \
    {                                                                                              \
        .wanted = true, .fenced = true                                                             \
    }
#define MOVABLE .wanted = true, .fenced = true, .n_replicas = 2, .may_move = true
#define FREE MOVABLE, .held = true
#define FREE_ASKED FREE, .n_asked = 1
#define MOVED MOVABLE, .n_asked = 1, .proven = true, .moves = true
#define FREE_PROVEN MOVED, .held = true
/* Its replica's node has died after it answered. */
#define PROVEN_ALONE                                                                               \
    {                                                                                              \
        .wanted = true, .fenced = true, .proven = true                                             \
    }

static const struct {
    const char *what;
    struct failover_facts in;
    struct failover_plan plan;
} rows[] = {
    {"a node like others", {NODE, VOLUMES(NEW)}, {.step = FAILOVER_NONE}},
    {"no node", {.n_overdue_most = 2, VOLUMES(NEW)}, {.step = FAILOVER_NONE}},
    {"no node, whose Lease is still there",
     {.silent = true, .n_overdue_most = 2, .has_boot_id = true, .n_recent_most = 1, VOLUMES(NEW)},
     {.step = FAILOVER_NONE}},
    {"nothing is published there", {SILENT}, {.step = FAILOVER_NONE}},

    /* ---- the proof ---- */
    {"nobody was asked", {SILENT, VOLUMES(NEW)}, {.step = FAILOVER_ASK}},
    {"one was asked", {SILENT, .begun = true, VOLUMES(ASKED)}, {.step = FAILOVER_WAIT}},
    {"one was asked, and has not answered in time",
     {SILENT, .begun = true, .impatient = true, .n_unanswered = 1, VOLUMES(ASKED)},
     {.step = FAILOVER_ASK}},
    {"both were asked, and neither has answered in time",
     {SILENT, .begun = true, .impatient = true, .n_unanswered = 2, VOLUMES(PROVEN, ALL_ASKED)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NO_ANSWER, .volume = 1}},
    {"both were asked, a moment ago",
     {SILENT, .begun = true, .n_unanswered = 2, VOLUMES(ALL_ASKED)},
     {.step = FAILOVER_WAIT}},
    {"of the second volume nobody was asked",
     {SILENT, .begun = true, VOLUMES(ASKED, NEW)},
     {.step = FAILOVER_ASK, .volume = 1}},
    {"one of two is proven",
     {SILENT, .begun = true, VOLUMES(PROVEN, ASKED)},
     {.step = FAILOVER_WAIT}},
    {"the other one of two is",
     {SILENT, .begun = true, VOLUMES(ASKED, PROVEN)},
     {.step = FAILOVER_WAIT}},
    {"what was given up has no disk any more",
     {GIVEN_UP, VOLUMES(PROVEN)},
     {.step = FAILOVER_NONE}},
    {"what was given up has disks that nobody uses there",
     {GIVEN_UP, .silent = true, .n_left = 1},
     {.step = FAILOVER_DETACH}},
    {"the same, and it is heard of again", {GIVEN_UP, .n_left = 1}, {.step = FAILOVER_DETACH}},
    {"the same, and it was started anew",
     {GIVEN_UP, .booted = true, .ready = true, .n_left = 1},
     {.step = FAILOVER_RETURN}},
    {"all are proven", {SILENT, .begun = true, VOLUMES(PROVEN, PROVEN)}, {.step = FAILOVER_TAINT}},
    {"all are, and somebody may still answer",
     {SILENT, .begun = true, .n_unanswered = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_WITHDRAW}},
    {"all are, and nobody more is asked",
     {SILENT, .begun = true, .impatient = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_TAINT}},
    {"who proved it is gone", {SILENT, VOLUMES(PROVEN_ALONE)}, {.step = FAILOVER_TAINT}},
    {"it is heard of again",
     {NODE, .n_unanswered = 1, VOLUMES(ASKED)},
     {.step = FAILOVER_WITHDRAW}},
    {"it is heard of again, after the proof", {NODE, VOLUMES(PROVEN)}, {.step = FAILOVER_NONE}},
    {"it is deleted, and nothing is known of it",
     {.n_unanswered = 1, VOLUMES(ASKED)},
     {.step = FAILOVER_WITHDRAW}},

    /* ---- held back ---- */
    {"many are silent",
     {SILENT, .n_overdue = 3, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_SILENT}},
    {"as many as may be", {SILENT, .n_overdue = 2, VOLUMES(NEW)}, {.step = FAILOVER_ASK}},
    {"many were given up",
     {SILENT, .n_recent = 10, VOLUMES(NEW)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_RECENT}},
    {"it is one of these",
     {SILENT, .n_recent = 10, .begun = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_TAINT}},
    {"no boot id",
     {LIMITS, .has_node = true, .silent = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NO_BOOT_ID}},
    {"it was started anew, and only its former boot was heard of",
     {SILENT, .of_other_boot = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_OTHER_BOOT}},
    {"the same, of a machine that is off",
     {SILENT_IN(OFF), .of_other_boot = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_OTHER_BOOT}},
    {"the same, of one that nobody has asked about",
     {SILENT_IN(ASK_CLOUD), .of_other_boot = true, VOLUMES(NEW)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_OTHER_BOOT}},
    {"somebody else's volume",
     {SILENT, .n_foreign = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"one does not want it",
     {SILENT, VOLUMES(PROVEN, UNWANTED)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NOT_WANTED, .volume = 1}},
    {"one has no fence",
     {SILENT, VOLUMES(UNFENCED, NEW)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NOT_FENCED, .volume = 0}},
    {"one has no replica",
     {SILENT, VOLUMES(NEW, ALONE)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NO_REPLICA, .volume = 1}},

    /* ---- whether the machine is off ---- */
    {"is not asked while a replica can be",
     {SILENT_IN(ASK_CLOUD), VOLUMES(NEW)},
     {.step = FAILOVER_ASK}},
    {"nor while one may answer",
     {SILENT_IN(ASK_CLOUD), .begun = true, VOLUMES(ASKED)},
     {.step = FAILOVER_WAIT}},
    {"is asked where none has answered",
     {SILENT_IN(ASK_CLOUD), .begun = true, .impatient = true, VOLUMES(ALL_ASKED)},
     {.step = FAILOVER_LOOK}},
    {"is asked without a replica", {SILENT_IN(ASK_CLOUD), VOLUMES(ALONE)}, {.step = FAILOVER_LOOK}},
    {"is asked without a fence",
     {SILENT_IN(ASK_CLOUD), VOLUMES(UNFENCED)},
     {.step = FAILOVER_LOOK}},
    {"is asked for somebody else's volume",
     {SILENT_IN(ASK_CLOUD), .n_foreign = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_LOOK}},
    {"is no matter where many are silent",
     {SILENT_IN(ASK_CLOUD), .n_overdue = 3, VOLUMES(ALONE)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_SILENT}},
    {"is no matter where one does not want it",
     {SILENT_IN(ASK_CLOUD), VOLUMES(UNWANTED)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NOT_WANTED}},
    {"was asked just now",
     {SILENT_IN(.machine = MACHINE_ASKED), VOLUMES(ALONE)},
     {.step = FAILOVER_WAIT}},
    {"cannot be asked",
     {SILENT_IN(.machine = MACHINE_IS_UNKNOWN), VOLUMES(ALONE)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NO_REPLICA}},
    {"it is, and that is as good as any fence",
     {SILENT_IN(OFF), .n_foreign = 1, VOLUMES(UNFENCED, ALONE, NEW)},
     {.step = FAILOVER_TAINT}},
    {"it is, and a replica may still answer",
     {SILENT_IN(OFF), .n_unanswered = 1, VOLUMES(ASKED)},
     {.step = FAILOVER_WITHDRAW}},
    {"it is, and one does not want it",
     {SILENT_IN(OFF), VOLUMES(ALONE, UNWANTED)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NOT_WANTED, .volume = 1}},
    {"it is, and many are silent",
     {SILENT_IN(OFF), .n_overdue = 3, VOLUMES(ALONE)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_SILENT}},
    {"it is, and many were given up",
     {SILENT_IN(OFF), .n_recent = 10, VOLUMES(ALONE)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_RECENT}},
    {"it is, and heard of again", {NODE_IN(OFF), VOLUMES(ALONE)}, {.step = FAILOVER_NONE}},
    {"its Node was deleted, and nobody can fence it",
     {DELETED_IN(ASK_CLOUD), VOLUMES(ALONE)},
     {.step = FAILOVER_LOOK}},
    {"its Node was deleted, and it is off",
     {DELETED_IN(OFF), VOLUMES(ALONE)},
     {.step = FAILOVER_STAND_IN}},

    /* ---- pods that move although it is held back ---- */
    {"nobody was asked for the one that may",
     {SILENT, .n_foreign = 1, VOLUMES(NEW, {FREE})},
     {.step = FAILOVER_ASK, .volume = 1}},
    {"the cloud is asked first",
     {SILENT_IN(ASK_CLOUD), .n_foreign = 1, VOLUMES({FREE})},
     {.step = FAILOVER_LOOK}},
    {"the cloud is asked, and so is a replica",
     {SILENT_IN(.machine = MACHINE_ASKED), .n_foreign = 1, VOLUMES({FREE})},
     {.step = FAILOVER_ASK}},
    {"one was asked for it",
     {SILENT, .n_foreign = 1, .begun = true, VOLUMES({FREE_ASKED})},
     {.step = FAILOVER_WAIT}},
    {"one was asked for it, and does not answer",
     {SILENT, .n_foreign = 1, .begun = true, .impatient = true, VOLUMES({FREE_ASKED})},
     {.step = FAILOVER_ASK}},
    {"nobody answers for it",
     {SILENT, .n_foreign = 1, .begun = true, .impatient = true, VOLUMES({FREE, .n_asked = 2})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"it is proven", {SILENT, .n_foreign = 1, VOLUMES({FREE_PROVEN})}, {.step = FAILOVER_AVOID}},
    {"it is, and another replica may still answer",
     {SILENT, .n_foreign = 1, .n_unanswered = 1, VOLUMES({FREE_PROVEN, .n_unanswered = 1})},
     {.step = FAILOVER_WITHDRAW}},
    {"one is, and another may be",
     {SILENT, .n_foreign = 1, .begun = true, VOLUMES({FREE_ASKED}, {FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"new pods are kept away",
     {SILENT, .moved = true, .n_foreign = 1, VOLUMES({FREE_PROVEN})},
     {.step = FAILOVER_MOVE, .why = FAILOVER_FOREIGN}},
    {"new pods are kept away, and one that does not want it stays",
     {SILENT, .moved = true, VOLUMES({FREE_PROVEN}, UNWANTED)},
     {.step = FAILOVER_MOVE, .why = FAILOVER_NOT_WANTED, .volume = 1}},
    {"new pods were kept away from the boot before",
     {SILENT, .moved = true, .booted = true, .n_foreign = 1, VOLUMES({FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"nobody has it there any more",
     {SILENT, .moved = true, .n_foreign = 1, VOLUMES({MOVED})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"somebody has taken the taint away, and nobody has it there any more",
     {SILENT, .n_foreign = 1, VOLUMES({MOVED})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"its kubelet is heard of, and says that it is in use",
     {NODE, .moved = true, .n_foreign = 1, VOLUMES({FREE_PROVEN})},
     {.step = FAILOVER_NONE}},
    {"beside one that does not want it",
     {SILENT, VOLUMES(UNWANTED, {FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"beside one without a fence",
     {SILENT, VOLUMES(UNFENCED, {FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"beside one without a replica",
     {SILENT, VOLUMES(ALONE, {FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"beside one for which nobody answers",
     {SILENT, .begun = true, .impatient = true, VOLUMES(ALL_ASKED, {FREE_PROVEN})},
     {.step = FAILOVER_AVOID}},
    {"not while it can be given up as a whole",
     {SILENT, .begun = true, VOLUMES(ASKED, {FREE_PROVEN})},
     {.step = FAILOVER_WAIT}},
    {"not while many are silent",
     {SILENT, .n_overdue = 3, VOLUMES({FREE_PROVEN})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_SILENT}},
    {"not for a boot that has ended",
     {SILENT, .of_other_boot = true, .n_foreign = 1, VOLUMES({FREE_PROVEN})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_OTHER_BOOT}},
    {"not from a Node that was deleted",
     {DELETED, .n_foreign = 1, VOLUMES({FREE})},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"they were moved, and their disks are there",
     {SILENT, .moved = true, .n_foreign = 1, .n_left = 1, VOLUMES(NEW)},
     {.step = FAILOVER_DETACH}},
    {"they were moved, and all of the rest is proven",
     {SILENT, .moved = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_TAINT}},
    {"they were moved, and it was only cut off",
     {NODE, .moved = true, .ready = true},
     {.step = FAILOVER_NONE}},
    {"they were moved, and it was started anew",
     {NODE, .moved = true, .booted = true, .ready = true, .n_left = 1},
     {.step = FAILOVER_RETURN}},
    {"they were moved, and it starts",
     {NODE, .moved = true, .booted = true},
     {.step = FAILOVER_NONE}},

    /* ---- given up ---- */
    {"by somebody else", {SILENT, .out_of_service = true, VOLUMES(NEW)}, {.step = FAILOVER_NONE}},
    {"by somebody else, while a replica was asked",
     {SILENT, .out_of_service = true, .n_unanswered = 1, VOLUMES(ASKED)},
     {.step = FAILOVER_WITHDRAW}},
    {"by somebody else, and started anew",
     {NODE, .out_of_service = true, .booted = true, .ready = true},
     {.step = FAILOVER_NONE}},
    {"it is silent", {GIVEN_UP, .silent = true}, {.step = FAILOVER_RELEASE}},
    {"it is silent, whatever else is",
     {GIVEN_UP, .silent = true, .n_overdue = 9},
     {.step = FAILOVER_RELEASE}},
    {"it was only cut off", {GIVEN_UP, .ready = true}, {.step = FAILOVER_NONE}},
    {"it starts", {GIVEN_UP, .booted = true}, {.step = FAILOVER_NONE}},
    {"it starts, and its old Lease is there",
     {GIVEN_UP, .booted = true, .silent = true},
     {.step = FAILOVER_NONE}},
    {"it has started, and its old Lease is there",
     {GIVEN_UP, .booted = true, .ready = true, .silent = true},
     {.step = FAILOVER_RETURN}},
    {"it has started", {GIVEN_UP, .booted = true, .ready = true}, {.step = FAILOVER_RETURN}},

    /* ---- deleted ---- */
    {"it was deleted", {DELETED, VOLUMES(NEW)}, {.step = FAILOVER_ASK}},
    {"it was, and one was asked",
     {DELETED, .begun = true, VOLUMES(ASKED)},
     {.step = FAILOVER_WAIT}},
    {"it was, and one of two is proven",
     {DELETED, .begun = true, VOLUMES(PROVEN, ASKED)},
     {.step = FAILOVER_WAIT}},
    {"it was, and all are proven",
     {DELETED, .begun = true, VOLUMES(PROVEN, PROVEN)},
     {.step = FAILOVER_STAND_IN}},
    {"it was, all are proven, and somebody may still answer",
     {DELETED, .begun = true, .n_unanswered = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_WITHDRAW}},
    {"it was silent before",
     {DELETED, .silent = true, .begun = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_STAND_IN}},
    {"it was deleted while many are silent",
     {DELETED, .silent = true, .n_overdue = 9, VOLUMES(NEW)},
     {.step = FAILOVER_ASK}},
    {"nothing was published there", {DELETED}, {.step = FAILOVER_NONE}},
    {"Kubernetes has nothing there any more",
     {LIMITS, .deleted = true, .has_boot_id = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_NONE}},
    {"the same, and somebody may still answer",
     {LIMITS, .deleted = true, .has_boot_id = true, .n_unanswered = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_WITHDRAW}},
    {"many were given up before it was deleted",
     {DELETED, .n_recent = 10, VOLUMES(NEW)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_MANY_RECENT}},
    {"it was deleted with somebody else's volume",
     {DELETED, .n_foreign = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_FOREIGN}},
    {"it was deleted with a volume that has no fence",
     {DELETED, VOLUMES(PROVEN, UNFENCED)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NOT_FENCED, .volume = 1}},
    {"it was deleted before its boot id was known",
     {LIMITS, .deleted = true, .n_unreleased = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_HOLD, .why = FAILOVER_NO_BOOT_ID}},

    {"it was deleted after it was started anew",
     {DELETED, .silent = true, .of_other_boot = true, VOLUMES(PROVEN)},
     {.step = FAILOVER_STAND_IN}},

    /* ---- a stand-in ---- */
    {"volumes are to be released",
     {STAND_IN, .n_unreleased = 1, VOLUMES(PROVEN)},
     {.step = FAILOVER_RELEASE}},
    {"a volume is released, and its disk is there",
     {STAND_IN, .n_unreleased = 1, .n_left = 1},
     {.step = FAILOVER_DETACH}},
    {"all are released, and a disk is on its way",
     {STAND_IN, .n_leaving = 1},
     {.step = FAILOVER_RELEASE}},
    {"all are released", {STAND_IN}, {.step = FAILOVER_REMOVE}},
    {"all are released, and kubelet has registered",
     {STAND_IN, .registered = true},
     {.step = FAILOVER_RELEASE}},
    {"kubelet has registered after a start",
     {STAND_IN, .registered = true, .booted = true},
     {.step = FAILOVER_NONE}},
    {"it is ready after a start",
     {STAND_IN, .registered = true, .booted = true, .ready = true},
     {.step = FAILOVER_RETURN}},
};

static void test_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failover_plan plan = failover_next(&rows[i].in);

        if (plan.step != rows[i].plan.step || plan.why != rows[i].plan.why ||
            plan.volume != rows[i].plan.volume)
            fail_msg("%s: step %d, why %d, volume %zu", rows[i].what, (int)plan.step, (int)plan.why,
                     plan.volume);
    }
}

/* ---- what comes next without waiting for a change ---- */

/* The pods of a node that was cordoned before it fell silent are released with the taint: that it
 * is there is no news to anybody. */
static void test_what_goes_on_at_once(void **state)
{
    static const bool goes_on[] = {
        [FAILOVER_ASK] = true,     [FAILOVER_LOOK] = true,   [FAILOVER_WITHDRAW] = true,
        [FAILOVER_TAINT] = true,   [FAILOVER_DETACH] = true, [FAILOVER_AVOID] = true,
        [FAILOVER_REMOVE] = false,
    };

    (void)state;
    for (int step = FAILOVER_NONE; step <= FAILOVER_REMOVE; step++)
        if (failover_goes_on((enum failover_step)step) != goes_on[step])
            fail_msg("step %d", step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next),
        cmocka_unit_test(test_what_goes_on_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
