#include "azdiskctl/log_subject.h"

#include "azdiskctl/document.h"
#include "azdiskctl/log_source.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/pages.h"
#include "provisioner-lib/records/names.h"

enum { PAGE = 500 };

/* ---- which lines, and of which nodes ---- */

static void add_nodes(const struct object_list *attachments, struct log_subject *subject)
{
    for (size_t i = 0; i < attachments->n; i++) {
        const char *node = attachment_node(attachments->items[i]);

        if (node && same_text(attachment_volume(attachments->items[i]), subject->volume))
            (void)string_set_add(&subject->nodes, node);
    }
}

struct err *log_subject_find(struct task *self, const struct logs_config *config,
                             struct log_subject *ret)
{
    const struct kube_object *volume, *pv;

    *ret = (struct log_subject){.volume = config->volume};
    if (*config->node)
        (void)string_set_add(&ret->nodes, config->node);
    if (!config->volume)
        return NULL;
    log_names_add(&ret->names, config->volume);
    TRY(cluster_read(self, config->connection->kube, &config->query, &ret->cluster));
    find_volume(&ret->cluster, config->volume, &volume, &pv);
    if (!volume && !pv)
        log_warning("no volume %s is on record: only its name is looked for", config->volume);
    if (pv)
        log_names_add(&ret->names, pv->metadata->name);
    if (volume) {
        ret->volume = volume->metadata->name;
        log_names_add(&ret->names, volume->metadata->name);
        log_names_add(&ret->names, volume_disk_id(volume));
    }
    if (volume && !*config->node)
        add_nodes(&ret->cluster.view.attachments, ret);
    return NULL;
}

void log_subject_fini(struct log_subject *subject)
{
    cluster_fini(&subject->cluster);
    string_set_clear(&subject->nodes);
}

struct err *log_subject_look_again(struct task *self, const struct logs_config *config,
                                   struct log_subject *subject)
{
    CLEANUP(listed_fini) struct listed attachments = {0};

    if (!subject->volume || *config->node)
        return NULL;
    CLEANUP(freep) char *value = label_value_of(subject->volume);
    CLEANUP(freep) char *label = mem_printf(LABEL_VOLUME "=%s", value);
    const struct kube_query query = {.label_selector = label};
    TRY(listed_read(self, config->connection->kube, &AZ_VOLUME_ATTACHMENTS,
                    config->query.object_namespace, &query, &attachments));
    add_nodes(&attachments.list, subject);
    return NULL;
}

/* ---- of which containers ---- */

static struct err *read_sources(struct task *self, struct kube *kube, json_t *ret_sources)
{
    CLEANUP(kube_pages_fini) struct kube_pages pages;
    unsigned limit = 0;

    kube_pages_init(&pages, kube, &PODS, NULL,
                    &(struct kube_query){.label_selector = OF_THE_CHART, .limit = PAGE});
    kube_pages_adapt(&pages, &limit);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;
        json_t *pod;
        size_t i;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            break;
        json_array_foreach(json_object_get(page, "items"), i, pod)
            log_sources_add(ret_sources, pod);
    }
    return json_array_size(ret_sources)
               ? NULL
               : err_new(ERR_NOT_FOUND, "no pod with the label %s has run", OF_THE_CHART);
}

/* Node plug-ins may be thousands. */
struct err *log_subject_sources(struct task *self, const struct logs_config *config,
                                const struct log_subject *subject, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *all = json_array(), *wanted = json_array();
    size_t i, n_plugins = 0;
    json_t *source;

    TRY(read_sources(self, config->connection->kube, all));
    json_array_foreach(all, i, source) {
        bool is_plugin = json_is_true(json_object_get(source, "daemon"));
        const char *node = text_of(source, "node");

        if (is_plugin && !(node && string_set_has(&subject->nodes, node)))
            continue;
        n_plugins += is_plugin;
        json_array_append(wanted, source);
    }
    if (*config->node && !n_plugins)
        return err_new(ERR_NOT_FOUND, "no node plug-in has run on node %s", config->node);
    *ret = TAKE_PTR(wanted);
    return NULL;
}
