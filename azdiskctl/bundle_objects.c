#include "azdiskctl/bundle_objects.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/cluster.h"
#include "azdiskctl/log_source.h"
#include "azdiskctl/redact_object.h"
#include "lib/api/resources.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/json/parse.h"
#include "lib/kube/pages.h"

#define LIST_BEGIN "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["
#define LIST_END "\n]}\n"
#define MIGRATED_DRIVER "disk.csi.azure.com"
#define IN_TREE_PROVISIONER "kubernetes.io/azure-disk"
#define KUBELET_LEASES "kube-node-lease"

enum {
    PAGE = 500,
    LARGEST_FILE = 128 * 1024 * 1024,
    MOST_DROPPED = 3,
};

struct row {
    const char *file;
    const struct api_resource *resource;
    const struct api_resource *older; /* where the server does not know it; NULL: nothing is */
    const char *selector;             /* of labels; NULL: all */
    bool (*is_meant)(const struct bundle_scope *scope, const json_t *object); /* NULL: all */
    void (*note)(struct bundle_scope *scope, const json_t *object);           /* for later rows */
    const char *dropped[MOST_DROPPED]; /* members of its status that nobody needs */
};

/* ---- what objects say ---- */

static const char *text_at(const json_t *object, const char *part, const char *member)
{
    return json_string_value(json_object_get(json_object_get(object, part), member));
}

static const char *name_of(const json_t *object)
{
    return text_at(object, "metadata", "name");
}

static bool is_member(const struct string_set *set, const char *text)
{
    return text && string_set_has(set, text);
}

static void add_member(struct string_set *set, const char *text)
{
    if (text)
        (void)string_set_add(set, text);
}

static char *object_key(const char *kind, const char *namespace_, const char *name)
{
    return mem_printf("%s/%s/%s", kind ? kind : "", namespace_ ? namespace_ : "", name ? name : "");
}

/* ---- which of them ---- */

static bool is_driver(const struct bundle_scope *scope, const char *text)
{
    return text && strcmp(text, scope->driver_name) == 0;
}

static bool is_migrated(const struct bundle_scope *scope)
{
    return is_driver(scope, MIGRATED_DRIVER);
}

static bool is_storage_class(const struct bundle_scope *scope, const json_t *object)
{
    const char *provisioner = json_string_value(json_object_get(object, "provisioner"));

    return is_driver(scope, provisioner) ||
           (is_migrated(scope) && same_text(provisioner, IN_TREE_PROVISIONER));
}

static bool is_snapshot_class(const struct bundle_scope *scope, const json_t *object)
{
    return is_driver(scope, json_string_value(json_object_get(object, "driver")));
}

static bool is_attributes_class(const struct bundle_scope *scope, const json_t *object)
{
    return is_driver(scope, json_string_value(json_object_get(object, "driverName")));
}

static bool is_driver_object(const struct bundle_scope *scope, const json_t *object)
{
    return is_driver(scope, name_of(object));
}

static bool is_volume(const struct bundle_scope *scope, const json_t *object)
{
    const json_t *spec = json_object_get(object, "spec");

    return is_driver(scope, text_at(spec, "csi", "driver")) ||
           (is_migrated(scope) && json_object_get(spec, "azureDisk"));
}

static bool is_claim(const struct bundle_scope *scope, const json_t *object)
{
    return is_member(&scope->volumes, text_at(object, "spec", "volumeName")) ||
           is_member(&scope->classes, text_at(object, "spec", "storageClassName"));
}

static bool is_attachment(const struct bundle_scope *scope, const json_t *object)
{
    return is_driver(scope, text_at(object, "spec", "attacher"));
}

static bool is_lease(const struct bundle_scope *scope, const json_t *object)
{
    const char *namespace_ = text_at(object, "metadata", "namespace");

    return is_member(&scope->namespaces, namespace_) || same_text(namespace_, KUBELET_LEASES);
}

/* About what was collected, or what attach-detach controller and kubelet say of pods' volumes. */
static bool is_event(const struct bundle_scope *scope, const json_t *object)
{
    static const char *const reasons[] = {"FailedAttachVolume", "FailedDetachVolume", "FailedMount",
                                          "FailedMapVolume"};
    const char *reason = json_string_value(json_object_get(object, "reason"));
    CLEANUP(freep)
    char *about =
        object_key(text_at(object, "regarding", "kind"), text_at(object, "regarding", "namespace"),
                   text_at(object, "regarding", "name"));

    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (same_text(reason, reasons[i]))
            return true;
    return string_set_has(&scope->objects, about);
}

/* ---- what later rows go by ---- */

static void note_class(struct bundle_scope *scope, const json_t *object)
{
    add_member(&scope->classes, name_of(object));
}

static void note_volume(struct bundle_scope *scope, const json_t *object)
{
    add_member(&scope->volumes, name_of(object));
}

static void note_pod(struct bundle_scope *scope, const json_t *object)
{
    add_member(&scope->namespaces, text_at(object, "metadata", "namespace"));
    log_sources_add(scope->logs, object);
}

void bundle_scope_init(struct bundle_scope *scope, const char *driver_name,
                       const char *object_namespace)
{
    *scope = (struct bundle_scope){
        .driver_name = driver_name, .object_namespace = object_namespace, .logs = json_array()};
    add_member(&scope->namespaces, object_namespace);
}

void bundle_scope_fini(struct bundle_scope *scope)
{
    string_set_clear(&scope->classes);
    string_set_clear(&scope->volumes);
    string_set_clear(&scope->namespaces);
    string_set_clear(&scope->objects);
    json_decref(scope->logs);
}

/* ---- the table ---- */

#define STORAGE "storage.k8s.io"

static const struct api_resource
    CSI_DRIVERS = {STORAGE, "v1", "csidrivers", "CSIDriver", false, NULL},
    STORAGE_CLASSES = {STORAGE, "v1", "storageclasses", "StorageClass", false, NULL},
    ATTRIBUTES_CLASSES = {STORAGE, "v1", "volumeattributesclasses", "VolumeAttributesClass",
                          false,   NULL},
    OLDER_ATTRIBUTES_CLASSES =
        {STORAGE, "v1beta1", "volumeattributesclasses", "VolumeAttributesClass", false, NULL},
    SNAPSHOT_CLASSES = {"snapshot.storage.k8s.io", "v1",  "volumesnapshotclasses",
                        "VolumeSnapshotClass",     false, NULL};

/* Events come last, as they are about the others. Secrets and ConfigMaps have no row. */
static const struct row rows[] = {
    {.file = "azvolumes.json", .resource = &AZ_VOLUMES},
    {.file = "azvolumeattachments.json", .resource = &AZ_VOLUME_ATTACHMENTS},
    {.file = "azdrivernodes.json", .resource = &AZ_DRIVER_NODES},
    {.file = "azsnapshots.json", .resource = &AZ_SNAPSHOTS},
    {.file = "csidrivers.json", .resource = &CSI_DRIVERS, .is_meant = is_driver_object},
    {.file = "csinodes.json", .resource = &CSI_NODES},
    {.file = "storageclasses.json",
     .resource = &STORAGE_CLASSES,
     .is_meant = is_storage_class,
     .note = note_class},
    {.file = "volumeattributesclasses.json",
     .resource = &ATTRIBUTES_CLASSES,
     .older = &OLDER_ATTRIBUTES_CLASSES,
     .is_meant = is_attributes_class},
    {.file = "volumesnapshotclasses.json",
     .resource = &SNAPSHOT_CLASSES,
     .is_meant = is_snapshot_class},
    {.file = "persistentvolumes.json",
     .resource = &PERSISTENT_VOLUMES,
     .is_meant = is_volume,
     .note = note_volume},
    {.file = "persistentvolumeclaims.json",
     .resource = &PERSISTENT_VOLUME_CLAIMS,
     .is_meant = is_claim},
    {.file = "volumeattachments.json", .resource = &VOLUME_ATTACHMENTS, .is_meant = is_attachment},
    {.file = "nodes.json",
     .resource = &NODES,
     .dropped = {"images", "addresses", "daemonEndpoints"}},
    {.file = "pods.json", .resource = &PODS, .selector = OF_THE_CHART, .note = note_pod},
    {.file = "leases.json", .resource = &LEASES, .is_meant = is_lease},
    {.file = "events.json", .resource = &EVENTS, .is_meant = is_event},
};

static bool row_takes(const struct row *row, struct bundle_scope *scope, const json_t *object)
{
    if (row->is_meant && !row->is_meant(scope, object))
        return false;
    CLEANUP(freep)
    char *key =
        object_key(row->resource->kind, text_at(object, "metadata", "namespace"), name_of(object));

    add_member(&scope->objects, key);
    if (row->note)
        row->note(scope, object);
    return true;
}

bool bundle_takes(const char *file, struct bundle_scope *scope, const json_t *object)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].file, file) == 0)
            return row_takes(&rows[i], scope, object);
    return false;
}

/* ---- a file ---- */

struct list_file {
    struct bundle_file file;
    size_t objects, left_out;
};

/* As it goes into the file. */
static json_t *shown(const struct row *row, const json_t *object)
{
    const struct api_resource *resource = row->resource;
    CLEANUP(freep)
    char *version = resource->group[0] ? mem_printf("%s/%s", resource->group, resource->version)
                                       : mem_strdup(resource->version);
    json_t *copy = redact_object(object);

    for (size_t i = 0; i < MOST_DROPPED && row->dropped[i]; i++)
        json_object_del(json_object_get(copy, "status"), row->dropped[i]);
    json_object_set_new(copy, "apiVersion", json_string(version));
    json_object_set_new(copy, "kind", json_string(resource->kind));
    return copy;
}

static struct err *write_object(const struct row *row, const json_t *object, struct list_file *list)
{
    CLEANUP(json_decrefp) json_t *copy = shown(row, object);
    CLEANUP(freep) char *text = json_to_text(copy);
    CLEANUP(freep) char *line = mem_printf("%s\n%s", list->objects ? "," : "", text);
    size_t length = strlen(line);

    if (!bundle_file_has_room(&list->file, length + strlen(LIST_END))) {
        list->left_out++;
        return NULL;
    }
    list->objects++;
    return bundle_file_write(&list->file, line, length);
}

static struct err *write_page(const struct row *row, struct bundle_scope *scope, const json_t *page,
                              struct list_file *list)
{
    const json_t *items = json_object_get(page, "items");

    for (size_t i = 0; i < json_array_size(items); i++)
        if (row_takes(row, scope, json_array_get(items, i)))
            TRY(write_object(row, json_array_get(items, i), list));
    return NULL;
}

/* `ret_unread` is why the list could not be read to its end. */
static struct err *write_pages(struct task *self, struct kube *kube, const struct row *row,
                               struct bundle_scope *scope, struct list_file *list,
                               struct err **ret_unread)
{
    bool is_ours = row->resource->namespaced && strcmp(row->resource->group, AZ_VOLUMES.group) == 0;
    CLEANUP(kube_pages_fini) struct kube_pages pages;
    unsigned limit = 0;

    kube_pages_init(&pages, kube, row->resource, is_ours ? scope->object_namespace : NULL,
                    &(struct kube_query){.label_selector = row->selector, .limit = PAGE});
    kube_pages_adapt(&pages, &limit);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        *ret_unread = kube_pages_next(self, &pages, &page);
        if (*ret_unread || !page)
            return NULL;
        TRY(write_page(row, scope, page, list));
    }
}

/* What the index says of it. */
static json_t *entry_of(const struct row *row, const struct list_file *list,
                        const struct err *unread)
{
    json_t *entry = json_pack("{s:s, s:I, s:I}", "file", row->file, "objects",
                              (json_int_t)list->objects, "bytes", (json_int_t)list->file.bytes);

    if (list->left_out)
        json_object_set_new(entry, "leftOut", json_integer((json_int_t)list->left_out));
    if (unread && kube_is_no_such_kind(unread))
        json_object_set_new(entry, "unknown", json_true());
    else if (unread)
        json_object_set_new(entry, "error", redact_note(err_message(unread)));
    return entry;
}

static struct err *write_row(struct task *self, struct kube *kube, const struct row *row,
                             struct bundle_scope *scope, struct list_file *list,
                             struct err **ret_unread)
{
    TRY(bundle_file_write(&list->file, LIST_BEGIN, strlen(LIST_BEGIN)));
    TRY(write_pages(self, kube, row, scope, list, ret_unread));
    if (*ret_unread && kube_is_no_such_kind(*ret_unread) && row->older) {
        struct row older = *row;

        older.resource = row->older;
        err_free(*ret_unread);
        TRY(write_pages(self, kube, &older, scope, list, ret_unread));
    }
    return bundle_file_write(&list->file, LIST_END, strlen(LIST_END));
}

/* Nothing could be read: no file says that there is nothing. */
static struct err *finish(struct list_file *list, const struct err *unread)
{
    if (!unread || list->objects)
        return bundle_file_close(&list->file);
    bundle_file_discard(&list->file);
    list->file.bytes = 0;
    return NULL;
}

static struct err *collect(struct task *self, struct kube *kube, const struct bundle_folder *folder,
                           const struct row *row, struct bundle_scope *scope, json_t *files)
{
    CLEANUP(err_freep) struct err *unread = NULL;
    struct list_file list = {0};

    TRY(bundle_file_create(folder, row->file, LARGEST_FILE, &list.file));
    struct err *err = write_row(self, kube, row, scope, &list, &unread);
    if (err)
        bundle_file_discard(&list.file);
    else
        err = finish(&list, unread);
    json_array_append_new(files, entry_of(row, &list, unread));
    return err;
}

struct err *bundle_objects(struct task *self, struct kube *kube, const struct bundle_folder *folder,
                           struct bundle_scope *scope, json_t *files)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        TRY(collect(self, kube, folder, &rows[i], scope, files));
    return NULL;
}
