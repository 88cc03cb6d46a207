#include "test/unit/lib/kube/objects.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

struct kube_object *object_from(const ProtobufCMessageDescriptor *type, const char *json)
{
    CLEANUP(freep) char *text = script_text(json);
    CLEANUP(json_decrefp) json_t *document = NULL;
    struct kube_object *object;

    assert_ok(json_parse_here(text, strlen(text), &document));
    assert_ok(kube_object_decode(type, document, &object));
    return object;
}

struct kube_object *node_of(const char *name, uint64_t version, const char *provider_id)
{
    CLEANUP(freep)
    char *json = mem_printf("{'metadata':{'name':'%s','resourceVersion':'%" PRIu64 "'},"
                            "'spec':{'providerID':'%s'}}",
                            name, version, provider_id);

    return object_from(&api__node__descriptor, json);
}
