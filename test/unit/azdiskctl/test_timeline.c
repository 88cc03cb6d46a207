/* What has happened to a volume, from the times in its objects and from Events, in order. */
#include "azdiskctl/timeline.h"

#include "test/unit/azdiskctl/cluster_of.h"

#define EVENT(name, kind, about, time, more)                                                       \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:20:00Z'},'eventTime':" time \
    ",'reason':'R" name "','note':'note " name "','regarding':{'kind':'" kind "','name':'" about   \
    "'}" more "}"

/* clang-format off */
static const char cluster_text[] =
    "{'volumes':[{'metadata':{'name':'v','creationTimestamp':'2026-01-01T00:00:00Z'},"
    "'status':{'detail':{'volume_id':'" GROUP_DISKS "v'},'annotation':{"
    "'disk.csi.azure.com/collect-after':'2026-01-01T01:02:00Z'}}}],"
    "'pvs':[" PV("pv", "v") "],'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", "true") "],"
    "'attachments':["
    ATTACHMENT("v", "a", "Primary", "Primary", "AttachmentFailed", "0",
               ",'error':{'message':'no place'}") ","
    ATTACHMENT("v", "b", "Replica", "Replica", "Attached", "1",
               ",'annotation':{'disk.csi.azure.com/replica-ready':'false " NOW " no disk at LUN 1'}") "],"
    "'pods':[{'metadata':{'name':'other','namespace':'default'}},{'metadata':{'name':'pod',"
    "'namespace':'default','creationTimestamp':'2026-01-01T00:50:09Z'},'spec':{'volumes':[{"
    "'persistentVolumeClaim':{'claimName':'claim'}}]}}],"
    "'claims':[{'metadata':{'name':'claim','namespace':'default',"
    "'creationTimestamp':'2025-12-31T23:59:00Z'}}],"
    "'events':["
    EVENT("1", "AzVolume", "v", "'2026-01-01T00:10:00.000000Z'",
          ",'series':{'count':3,'lastObservedTime':'2026-01-01T00:40:00.000000Z'}") ","
    EVENT("2", "PersistentVolumeClaim", "claim", "null", "") ","
    EVENT("3", "AzVolume", "other", "null", "") ","
    EVENT("4", "VolumeAttachment", "p", "null",
          ",'deprecatedLastTimestamp':'2026-01-01T00:45:00Z','deprecatedCount':5") ","
    "{'metadata':{'name':'f'},'eventTime':'2026-01-01T00:50:08.400000Z','reason':'FailedOver','note':"
    "'Nothing has been heard of node a since 2026-01-01T00:50:00.000000Z . Whether it still "
    "writes was asked from 2026-01-01T00:50:08.100000Z on, and that it does not was proven at "
    "2026-01-01T00:50:08.300000Z ; .','regarding':{'kind':'AzVolume','name':'v'}}]}";
/* clang-format on */

static const char expected[] =
    "2025-12-31T23:59:00Z  PersistentVolumeClaim/claim  Created     object created\n"
    "2026-01-01T00:00:00Z  AzVolume/v                   Created     object created\n"
    "2026-01-01T00:00:01Z  PersistentVolume/pv          Created     object created\n"
    "2026-01-01T00:00:02Z  AzVolumeAttachment/v-a       Created     object created\n"
    "2026-01-01T00:00:02Z  AzVolumeAttachment/v-b       Created     object created\n"
    "2026-01-01T00:00:03Z  VolumeAttachment/p           Created     object created\n"
    "2026-01-01T00:20:00Z  PersistentVolumeClaim/claim  R2          note 2\n"
    "2026-01-01T00:40:00Z  AzVolume/v                   R1          note 1 (3 times)\n"
    "2026-01-01T00:45:00Z  VolumeAttachment/p           R4          note 4 (5 times)\n"
    "2026-01-01T00:50:08Z  AzVolume/v                   FailedOver  Nothing has been heard of node "
    "a "
    "since 2026-01-01T00:50:00.000000Z . Whether it still writes was asked from "
    "2026-01-01T00:50:08.100000Z on, and that it does not was proven at "
    "2026-01-01T00:50:08.300000Z ; "
    ".\n"
    "2026-01-01T00:50:08Z  AzVolume/v                   Failover    from node a: 8.4 s (detect 8.1 "
    "s, "
    "fence 0.2 s, taint 0.1 s; the rest is not on record)\n"
    "2026-01-01T00:50:09Z  Pod/pod                      Created     object created\n"
    "2026-01-01T01:00:00Z  AzVolumeAttachment/v-a       Now         Primary, failed: no place\n"
    "2026-01-01T01:00:00Z  AzVolumeAttachment/v-b       Now         Replica, attached, not ready: "
    "no disk at LUN 1\n"
    "2026-01-01T01:02:00Z  AzVolume/v                   Collection  "
    "replicas will be detached unless the volume is published before\n";

static void test_text(void **state)
{
    static const char *const names[] = {"v", "pv"};
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(cluster_text);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(json_decrefp) json_t *timeline = NULL;
        struct buffer out;

        assert_ok(timeline_json(&cluster, names[i], &timeline));
        buffer_init(&out, 1 << 16);
        timeline_text(timeline, &out);
        CLEANUP(freep) char *text = buffer_take(&out);
        assert_string_equal(text, expected);
    }
}

static void test_a_volume_that_is_not_there(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of("{}");
    json_t *timeline = NULL;

    (void)state;
    assert_fails(timeline_json(&cluster, "x", &timeline), ERR_NOT_FOUND,
                 "neither a PersistentVolume nor an AzVolume \"x\" exists");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_a_volume_that_is_not_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
