#include "azdiskctl/upgrade_check_run.h"

#include "azdiskctl/document.h"
#include "azdiskctl/listed.h"
#include "azdiskctl/upgrade_check.h"
#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/json/parse.h"

enum { LARGEST_PLAN = 1024 * 1024 };

static const char *metadata_text(const json_t *object, const char *member)
{
    return text_of(json_object_get(object, "metadata"), member);
}

static bool is_plan(const json_t *json)
{
    const json_t *objects = json_object_get(json, "objects"), *object;
    size_t i;

    json_array_foreach(objects, i, object) {
        if (!upgrade_check_resource(text_of(object, "kind")) || !metadata_text(object, "name"))
            return false;
    }
    return json_is_array(objects) && text_of(json, "release") && text_of(json, "version");
}

static struct err *read_plan(struct task *self, const char *path, json_t **ret)
{
    CLEANUP(freep) char *text = NULL;
    CLEANUP(json_decrefp) json_t *plan = NULL;
    size_t length = 0;

    TRY(file_read(path, LARGEST_PLAN, &text, &length));
    struct err *err = json_parse(self, text, length, &plan);
    if (err)
        return err_wrap(err, "%s", path);
    if (!is_plan(plan))
        return err_new(ERR_INVALID, "%s is not a plan as the chart makes it", path);
    *ret = TAKE_PTR(plan);
    return NULL;
}

/* By its name in a list, which an account may read that may read no other object of the kind. Null
 * if there is none, or no such kind. */
static struct err *read_object(struct task *self, struct kube *kube, const json_t *wanted,
                               json_t **ret)
{
    const struct api_resource *resource = upgrade_check_resource(text_of(wanted, "kind"));
    CLEANUP(freep) char *name = mem_printf("metadata.name=%s", metadata_text(wanted, "name"));
    const struct kube_query query = {.field_selector = name};
    CLEANUP(json_decrefp) json_t *list = NULL;
    struct err *err =
        kube_list_page(self, kube, resource, metadata_text(wanted, "namespace"), &query, &list);

    if (err && !kube_is_no_such_kind(err))
        return err_wrap(err, "%s", resource->plural);
    err_free(err);
    json_t *found = json_array_get(json_object_get(list, "items"), 0);
    *ret = found ? json_incref(found) : json_null();
    return NULL;
}

struct err *upgrade_check_json(struct task *self, struct kube *kube, const char *path, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *plan = NULL, *all = json_array();

    TRY(read_plan(self, path, &plan));
    const json_t *objects = json_object_get(plan, "objects");
    for (size_t i = 0; i < json_array_size(objects); i++) {
        json_t *found = NULL;

        TRY(read_object(self, kube, json_array_get(objects, i), &found));
        json_array_append_new(all, found);
    }
    CLEANUP(listed_fini) struct listed pvs = {0};
    if (upgrade_check_is_move(plan, all))
        TRY(listed_read(self, kube, &PERSISTENT_VOLUMES, NULL, &(struct kube_query){0}, &pvs));
    *ret = upgrade_check_document(plan, all, &pvs.list);
    return NULL;
}
