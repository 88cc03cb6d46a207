/* What others have written that a switchover goes by: {"claim": ..., "owner": ..., "note": "..."},
 * a PersistentVolumeClaim with a wish, the controller of a pod, and the note of an Event. */
#include "azdiskctl/pod_owner.h"
#include "lib/api/names.h"
#include "lib/json/parse.h"
#include "lib/kube/object.h"
#include "provisioner-lib/records/failover_note.h"
#include "provisioner-lib/records/switchover.h"
#include "test/fuzz/input.h"

#define NOW_US INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */

static void check_wish(const json_t *claim)
{
    struct kube_object *object;

    if (!claim ||
        !input_taken(kube_object_decode(&api__persistent_volume_claim__descriptor, claim, &object)))
        return;
    CLEANUP(freep)
    char *node = switchover_node(kube_annotation(object->metadata, ANNOTATION_SWITCHOVER), NOW_US);
    MUST(!node || (*node && !strchr(node, ' ')));
    kube_object_unref(object);
}

static void check_owner(const json_t *owner)
{
    char kind[] = "StatefulSet", name[] = "db", uid[] = "o";
    Api__OwnerReference reference = API__OWNER_REFERENCE__INIT;

    reference.kind = kind, reference.name = name, reference.uid = uid;
    CLEANUP(freep) char *refusal = pod_owner_refusal(&reference, owner);
    CLEANUP(freep) char *selector = pod_owner_selector(owner);
    MUST(!refusal || *refusal);
    MUST(!selector || *selector);
}

static void check_note(const char *note)
{
    struct failover_times times, again;
    char *node, *node_again;

    if (!note || !failover_note_parse(note, &node, &times))
        return;
    CLEANUP(freep) char *written = failover_note_text(node, &times);
    MUST(failover_note_parse(written, &node_again, &again));
    MUST(strcmp(node, node_again) == 0 && times.deleted == again.deleted &&
         times.lost_us == again.lost_us && times.asked_us == again.asked_us &&
         times.proven_us == again.proven_us);
    free(node);
    free(node_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    if (!input_taken(json_parse_here((const char *)data, size, &json)))
        return 0;
    check_wish(json_object_get(json, "claim"));
    check_owner(json_object_get(json, "owner"));
    check_note(json_string_value(json_object_get(json, "note")));
    return 0;
}
