/* Objects of the Kubernetes API, bodies of Azure, and files, as JSON. The first byte says of which
 * type: '0' and on are the rows below, in their order. */
#include "lib/api/azdisk.pb-c.h"
#include "lib/api/compute.pb-c.h"
#include "lib/api/kubernetes.pb-c.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "test/fuzz/input.h"

static const ProtobufCMessageDescriptor *const types[] = {
    &api__node__descriptor,
    &api__pod__descriptor,
    &api__namespace__descriptor,
    &api__persistent_volume__descriptor,
    &api__persistent_volume_claim__descriptor,
    &api__secret__descriptor,
    &api__lease__descriptor,
    &api__event__descriptor,
    &api__volume_attachment__descriptor,
    &api__volume_snapshot_content__descriptor,
    &api__status__descriptor,
    &api__az_volume__descriptor,
    &api__az_volume_attachment__descriptor,
    &api__az_driver_node__descriptor,
    &arm__disks_page__descriptor,
    &arm__virtual_machine__descriptor,
    &arm__resource_skus_page__descriptor,
    &arm__token__descriptor,
    &arm__cloud_endpoints__descriptor,
    &arm__cloud_file__descriptor,
};

/* What was written of a message reads as a message of which the same is written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *json = NULL;
    const ProtobufCMessage *message, *again;
    size_t index = size > 0 ? (size_t)data[0] - '0' : COUNT_OF(types);

    if (index >= COUNT_OF(types) ||
        !input_taken(json_parse_here((const char *)data + 1, size - 1, &json)) ||
        !input_taken(json_decode(types[index], json, arena, &message)))
        return 0;
    CLEANUP(json_decrefp) json_t *first = json_encode(message);
    MUST(input_taken(json_decode(types[index], first, arena, &again)));
    CLEANUP(json_decrefp) json_t *second = json_encode(again);
    MUST(json_equal(first, second));
    return 0;
}
