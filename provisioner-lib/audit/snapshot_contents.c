#include "provisioner-lib/audit/snapshot_contents.h"

#include <string.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/pages.h"

enum { PAGE = 500 };

/* csi-snapshotter passes it with --extra-create-metadata. */
#define PARAMETER_CONTENT "csi.storage.k8s.io/volumesnapshotcontent/name"

static const char *handle_of(const struct kube_object *object)
{
    const Api__VolumeSnapshotContent *content = KUBE_AS(Api__VolumeSnapshotContent, object);

    if (content->status && content->status->snapshot_handle)
        return content->status->snapshot_handle;
    return content->spec && content->spec->source ? content->spec->source->snapshot_handle : NULL;
}

/* ---- reading ---- */

static struct err *take_page(const json_t *page, struct kube_object ***objects, size_t *n)
{
    const json_t *list = json_object_get(page, "items");

    for (size_t i = 0; i < json_array_size(list); i++) {
        struct kube_object *object;

        TRY(kube_object_decode(VOLUME_SNAPSHOT_CONTENTS.type, json_array_get(list, i), &object));
        ARRAY_ADD(*objects, *n) = object;
    }
    return NULL;
}

static struct err *read_pages(struct task *self, struct kube *kube, struct kube_object ***objects,
                              size_t *n)
{
    const struct kube_query query = {.limit = PAGE};
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    kube_pages_init(&pages, kube, &VOLUME_SNAPSHOT_CONTENTS, NULL, &query);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            return NULL;
        TRY(take_page(page, objects, n));
    }
}

struct err *snapshot_contents_read(struct task *self, struct kube *kube,
                                   struct snapshot_contents *ret)
{
    struct kube_object **objects = NULL;
    size_t n = 0;
    CLEANUP(err_freep) struct err *err = read_pages(self, kube, &objects, &n);

    snapshot_contents_of(objects, n, ret);
    if (!err)
        return NULL;
    ret->state = kube_is_no_such_kind(err) ? CONTENTS_NOT_DEFINED : CONTENTS_DENIED;
    return kube_is_no_such_kind(err) || err_kind(err) == ERR_DENIED ? NULL : TAKE_PTR(err);
}

void snapshot_contents_of(struct kube_object **objects, size_t n, struct snapshot_contents *ret)
{
    *ret = (struct snapshot_contents){.list = {objects, n}, .owned = objects};
    ret->by_handle = object_index_of(&ret->list, handle_of);
    ret->by_name = object_index_of(&ret->list, key_name);
}

void snapshot_contents_fini(struct snapshot_contents *contents)
{
    object_index_fini(&contents->by_handle);
    object_index_fini(&contents->by_name);
    for (size_t i = 0; i < contents->list.n; i++)
        kube_object_unref(contents->owned[i]);
    free(contents->owned);
    *contents = (struct snapshot_contents){0};
}

/* ---- looking ---- */

bool snapshot_contents_name(const struct snapshot_contents *contents, const char *id)
{
    return object_index_first(&contents->by_handle, id);
}

bool snapshot_contents_have(const struct snapshot_contents *contents,
                            const Api__AzSnapshot *snapshot)
{
    const Api__AzSnapshotSpec *spec = snapshot->spec;
    const char *name =
        spec ? KUBE_MAP_GET(spec->parameters, spec->n_parameters, PARAMETER_CONTENT) : NULL;

    return snapshot_contents_name(contents, snapshot_recorded_id(snapshot)) ||
           object_index_first(&contents->by_name, name);
}
