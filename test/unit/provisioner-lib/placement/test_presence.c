/* Each row is the state of an attachment, and how much of the disk its node counts for. */
#include "provisioner-lib/placement/presence.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/arena.h"
#include "lib/json/codec.h"
#include "test/unit/expect.h"

static const struct {
    const char *state;
    bool lun, deleting;
    enum presence presence;
} states[] = {
    {"Attached", true, false, PRESENCE_ATTACHED},
    {"Attached", false, false, PRESENCE_ATTACHED},
    {"Attached", true, true, PRESENCE_NONE},
    {"Attaching", false, false, PRESENCE_ATTACHING},
    {"Attaching", true, false, PRESENCE_ATTACHING},
    {"Attaching", true, true, PRESENCE_NONE},
    {"Pending", true, false, PRESENCE_ATTACHING},
    {"Pending", false, false, PRESENCE_NONE},
    {"", true, false, PRESENCE_ATTACHING},
    {"", false, false, PRESENCE_NONE},
    {NULL, false, false, PRESENCE_NONE},
    {"AttachmentFailed", true, false, PRESENCE_NONE},
    {"Detaching", true, false, PRESENCE_NONE},
    {"Detached", false, false, PRESENCE_NONE},
    {"DetachmentFailed", true, false, PRESENCE_NONE},
    {"ForceDetachPending", true, false, PRESENCE_NONE},
};

static void test_presence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        CLEANUP(json_decrefp) json_t *json = json_pack("{s:{}}", "metadata");
        const ProtobufCMessage *message;

        if (states[i].deleting)
            json_object_set_new(json_object_get(json, "metadata"), "deletionTimestamp",
                                json_string("2026-01-01T00:00:00Z"));
        if (states[i].state)
            json_object_set_new(json, "status", json_pack("{s:s}", "state", states[i].state));
        if (states[i].lun)
            json_object_set_new(json_object_get(json, "status"), "detail",
                                json_pack("{s:{s:s}}", "publish_context", "LUN", "0"));
        assert_ok(json_decode(&api__az_volume_attachment__descriptor, json, arena, &message));
        enum presence presence =
            attachment_presence((const Api__AzVolumeAttachment *)(const void *)message);
        if (presence != states[i].presence)
            fail_msg("row %zu: expected %d, got %d", i, (int)states[i].presence, (int)presence);
    }
}

/* Its node has looked at it, and would not use it. */
static void test_unready(void **state)
{
    static const char *const notes[] = {"false 2026-01-01T00:00:00Z no reservation", "true"};
    static const enum presence expected[] = {PRESENCE_NONE, PRESENCE_ATTACHED};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        CLEANUP(json_decrefp)
        json_t *json = json_pack("{s:{},s:{s:s,s:{s:s},s:{s:s}}}", "metadata", "status", "state",
                                 "Attached", "detail", "role", "Replica", "annotation",
                                 ANNOTATION_REPLICA_READY, notes[i]);
        const ProtobufCMessage *message;

        assert_ok(json_decode(&api__az_volume_attachment__descriptor, json, arena, &message));
        assert_int_equal(
            attachment_presence((const Api__AzVolumeAttachment *)(const void *)message),
            expected[i]);
    }
}

static void test_what_counts(void **state)
{
    struct score_node node = {.healthy = true};

    (void)state;
    score_node_add(&node, PRESENCE_NONE);
    score_node_add(&node, PRESENCE_ATTACHED);
    score_node_add(&node, PRESENCE_ATTACHED);
    score_node_add(&node, PRESENCE_ATTACHING);
    assert_int_equal(node.attached, 2);
    assert_int_equal(node.attaching, 1);
    assert_true(node.healthy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presence),
        cmocka_unit_test(test_unready),
        cmocka_unit_test(test_what_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
