#include "azdiskctl/uninstall_check.h"

#include "azdiskctl/cluster.h"
#include "azdiskctl/document.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"

/* ---- what there is ---- */

/* A volume that a pod has without a claim is named by its disk. */
static json_t *published(const struct object_index *pvs, const struct kube_object *attachment)
{
    const char *name = volume_attachment_source(attachment);
    CLEANUP(freep) char *claim = claim_of_pv(object_index_first(pvs, name));

    return json_pack("{s:s?, s:s?, s:s?}", "volume",
                     name ? name : volume_attachment_disk(attachment), "claim", claim, "node",
                     volume_attachment_node(attachment));
}

json_t *uninstall_check_document(const struct cluster_view *view)
{
    CLEANUP(object_index_fini)
    struct object_index pvs = object_index_of(&view->persistent_volumes, key_name);
    CLEANUP(json_decrefp) json_t *list = json_array();
    size_t n = 0;

    for (size_t i = 0; i < view->volume_attachments.n; i++)
        if (volume_attachment_is_of(view->volume_attachments.items[i], view->driver_name))
            json_array_append_new(list, published(&pvs, view->volume_attachments.items[i]));
    for (size_t i = 0; i < view->persistent_volumes.n; i++)
        n +=
            pv_is_of_driver(KUBE_AS(Api__PersistentVolume, view->persistent_volumes.items[i])->spec,
                            view->driver_name);
    return json_pack("{s:o, s:O, s:I}", "driverName", typed_name(view->driver_name), "published",
                     list, "persistentVolumes", (json_int_t)n);
}

struct err *uninstall_check_json(struct task *self, struct kube *kube, const char *driver_name,
                                 json_t **ret)
{
    const struct kube_query all = {0};
    struct listed attachments = {0}, pvs = {0};
    struct err *err = listed_read(self, kube, &VOLUME_ATTACHMENTS, NULL, &all, &attachments);

    if (!err)
        err = listed_read(self, kube, &PERSISTENT_VOLUMES, NULL, &all, &pvs);
    if (!err)
        *ret =
            uninstall_check_document(&(struct cluster_view){.driver_name = driver_name,
                                                            .volume_attachments = attachments.list,
                                                            .persistent_volumes = pvs.list});
    listed_fini(&attachments);
    listed_fini(&pvs);
    return err;
}

/* ---- what is said of it ---- */

static long long persistent_volumes(const json_t *document)
{
    return json_integer_value(json_object_get(document, "persistentVolumes"));
}

bool uninstall_check_is_clean(const json_t *document)
{
    return json_array_size(json_object_get(document, "published")) == 0;
}

char *uninstall_check_doubt(const json_t *document)
{
    if (!uninstall_check_is_clean(document) || persistent_volumes(document) > 0)
        return NULL;
    return mem_printf("no volume of driver %s in this cluster (see --driver-name and --context)",
                      text_of(document, "driverName"));
}

static void write_published(const json_t *list, struct buffer *out)
{
    static const char *const columns[] = {"volume", "claim", "node"};
    static const char *const head[] = {"VOLUME", "CLAIM", "NODE"};
    struct text_table table = {.columns = COUNT_OF(head)};
    const json_t *one;
    size_t i;

    text_table_add_row(&table, head);
    json_array_foreach(list, i, one)
        text_table_add_members(&table, one, columns);
    text_table_write(&table, "", out);
}

void uninstall_check_text(const json_t *document, struct buffer *out)
{
    const json_t *list = json_object_get(document, "published");
    long long n = persistent_volumes(document);

    if (!uninstall_check_is_clean(document)) {
        write_published(list, out);
        buffer_printf(
            out, "\nThe driver must not be uninstalled: without it nobody unmounts and detaches "
                 "these volumes, and their pods can neither end nor start elsewhere. Delete the "
                 "pods that use them, or scale down what makes them, and try again.\n");
        return;
    }
    buffer_printf(out, "No volume of driver %s is published: it may be uninstalled.\n",
                  text_of(document, "driverName"));
    if (n > 0)
        buffer_printf(out,
                      "%lld PersistentVolume%s of it will be there still, with %s; pods can use "
                      "%s again when the driver is installed again.\n",
                      n, n == 1 ? "" : "s", n == 1 ? "its disk" : "their disks",
                      n == 1 ? "it" : "them");
}
