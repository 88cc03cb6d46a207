/* Every situation is one row: what Kubernetes says of one node, or of two, and what is on record.
 */
#include "controller/recovery/plan.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const char *const step_names[] = {
    [RECOVERY_NONE] = "none",
    [RECOVERY_WRITE_VOLUME] = "write-volume",
    [RECOVERY_WRITE_ATTACHED_VOLUME] = "write-attached-volume",
    [RECOVERY_WRITE_ATTACHMENT] = "write-attachment",
    [RECOVERY_PROMOTE] = "promote",
    [RECOVERY_KEEP] = "keep",
    [RECOVERY_DEMOTE] = "demote",
};

static const struct {
    const char *why;
    const char *words; /* "bound", and of the first node: attached, leaving, no-node, record,
                          request */
    enum recovery_volume volume;
    enum attachment_phase phase, other; /* of the first node; of one without a VolumeAttachment */
    const char *step;
} rows[] = {
    {"all is on record", "bound attached record", RECOVERY_VOLUME_READY, PHASE_PRIMARY_ATTACHED,
     PHASE_REPLICA_ATTACHED, "none"},
    {"nothing is", "bound attached", RECOVERY_NO_VOLUME, PHASE_ABSENT, PHASE_ABSENT,
     "write-volume"},
    {"nothing is, of a volume that nobody uses", "bound", RECOVERY_NO_VOLUME, PHASE_ABSENT,
     PHASE_ABSENT, "write-volume"},
    {"the volume comes first", "bound attached", RECOVERY_VOLUME_UNREADY, PHASE_ABSENT,
     PHASE_ABSENT, "none"},
    {"then what is published", "bound attached", RECOVERY_VOLUME_READY, PHASE_ABSENT, PHASE_ABSENT,
     "write-attachment"},
    {"whatever replicas there are", "bound attached", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_REPLICA_ATTACHED, "write-attachment"},
    {"what is published is no replica", "bound attached", RECOVERY_VOLUME_READY,
     PHASE_REPLICA_ATTACHED, PHASE_ABSENT, "promote"},
    {"a detach that nobody asks for any more", "bound attached record request",
     RECOVERY_VOLUME_READY, PHASE_PRIMARY_ATTACHED, PHASE_ABSENT, "keep"},

    {"not attached yet: the attacher will ask", "bound", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_ABSENT, "none"},
    {"about to be unpublished", "bound attached leaving", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_ABSENT, "none"},
    {"demoted by that", "bound attached leaving", RECOVERY_VOLUME_READY, PHASE_DEMOTING,
     PHASE_ABSENT, "none"},
    {"on a node that is gone", "bound attached no-node", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_ABSENT, "none"},
    {"being detached", "bound attached", RECOVERY_VOLUME_READY, PHASE_LEAVING, PHASE_ABSENT,
     "none"},
    {"the primary on record is nobody's", "bound attached", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_PRIMARY_ATTACHED, "demote"},
    {"even where it is one here, too", "bound attached", RECOVERY_VOLUME_READY,
     PHASE_PRIMARY_ATTACHED, PHASE_PROMOTING, "demote"},
    {"it is in the way of what the attacher asks for", "bound", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_PRIMARY_PENDING, "demote"},
    {"nobody wants the volume anywhere", "bound attached leaving", RECOVERY_VOLUME_READY,
     PHASE_ABSENT, PHASE_PRIMARY_ATTACHED, "none"},
    {"nor on a node that is gone", "bound attached no-node", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_PRIMARY_ATTACHED, "none"},
    {"one that is deleted gives way", "bound attached", RECOVERY_VOLUME_READY, PHASE_ABSENT,
     PHASE_DELETED_WHILE_PUBLISHED, "none"},
    {"a claim that is gone", "", RECOVERY_NO_VOLUME, PHASE_ABSENT, PHASE_ABSENT, "none"},
    {"gone while a node has it, which is to be told apart", "attached leaving no-node",
     RECOVERY_NO_VOLUME, PHASE_ABSENT, PHASE_ABSENT, "write-attached-volume"},
    {"a volume that is being deleted", "bound attached", RECOVERY_VOLUME_DELETING, PHASE_ABSENT,
     PHASE_ABSENT, "none"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *words = rows[i].words;
        struct recovery_node node = {
            .attached = strstr(words, "attached"),
            .leaving = strstr(words, "leaving"),
            .node_exists = !strstr(words, "no-node"),
            .standing = {.phase = rows[i].phase, .on_record = strstr(words, "record")},
            .detach_requested = strstr(words, "request")};
        struct publish_standing other = {.phase = rows[i].other};
        struct recovery_snapshot in = {.bound = strstr(words, "bound"),
                                       .volume = rows[i].volume,
                                       .single_writer = true,
                                       .nodes = &node,
                                       .n_nodes = 1,
                                       .others = &other,
                                       .n_others = 1};
        const char *step = step_names[recovery_decide(&in).step];

        if (strcmp(step, rows[i].step) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].step, step);
    }
}

/* A disk of many writers is published to many; the step names the node that lacks its own. */
static void test_many_writers(void **state)
{
    struct recovery_node nodes[3];
    struct recovery_snapshot in = {
        .bound = true, .volume = RECOVERY_VOLUME_READY, .nodes = nodes, .n_nodes = COUNT_OF(nodes)};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        nodes[i] = (struct recovery_node){
            .attached = true, .node_exists = true, .standing.phase = PHASE_PRIMARY_ATTACHED};
    assert_int_equal(recovery_decide(&in).step, RECOVERY_NONE);
    nodes[2].standing.phase = PHASE_ABSENT;
    assert_int_equal(recovery_decide(&in).step, RECOVERY_WRITE_ATTACHMENT);
    assert_int_equal(recovery_decide(&in).node, 2);
    in.single_writer = true;
    assert_int_equal(recovery_decide(&in).step, RECOVERY_NONE);
}

/* Of two nodes that Kubernetes has it on neither is in the other's way by mistake; a record of a
 * third is. */
static void test_whose_record_is_in_the_way(void **state)
{
    struct recovery_node nodes[2];
    const struct publish_standing others[] = {{.phase = PHASE_REPLICA_ATTACHED},
                                              {.phase = PHASE_PRIMARY_ATTACHED, .on_record = true}};
    struct recovery_snapshot in = {.bound = true,
                                   .volume = RECOVERY_VOLUME_READY,
                                   .single_writer = true,
                                   .nodes = nodes,
                                   .n_nodes = COUNT_OF(nodes),
                                   .others = others};

    (void)state;
    nodes[0] = (struct recovery_node){
        .attached = true, .node_exists = true, .standing.phase = PHASE_PRIMARY_ATTACHED};
    nodes[1] = (struct recovery_node){.node_exists = true, .standing.phase = PHASE_ABSENT};
    assert_int_equal(recovery_decide(&in).step, RECOVERY_NONE);
    in.n_others = COUNT_OF(others);
    struct recovery_plan plan = recovery_decide(&in);
    assert_int_equal(plan.step, RECOVERY_DEMOTE);
    assert_int_equal(plan.other, 1);
    assert_int_equal(plan.node, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_many_writers),
        cmocka_unit_test(test_whose_record_is_in_the_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
