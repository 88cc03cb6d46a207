#include "azdiskctl/logs.h"

#include "azdiskctl/document.h"
#include "azdiskctl/log_line.h"
#include "azdiskctl/log_source.h"
#include "azdiskctl/pod_log.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/string_set.h"
#include "lib/base/text.h"
#include "lib/kube/pages.h"

enum { MOST_OF_A_LOG = 16 * 1024 * 1024, MOST_OF_ALL = 64 * 1024 * 1024, PAGE = 500 };

/* ---- whose logs, and which lines ---- */

struct subject {
    struct log_names names;  /* borrowed from the cluster that was read */
    struct string_set nodes; /* whose plug-ins are read */
};

static void find_nodes(const struct cluster *cluster, const struct kube_object *volume,
                       struct string_set *nodes)
{
    const struct object_list *attachments = &cluster->view.attachments;

    for (size_t i = 0; i < attachments->n; i++) {
        const char *node = attachment_node(attachments->items[i]);

        if (node && same_text(attachment_volume(attachments->items[i]), volume->metadata->name))
            (void)string_set_add(nodes, node);
    }
}

static struct err *find_subject(struct task *self, const struct logs_config *config,
                                struct cluster *cluster, struct subject *ret)
{
    const struct kube_object *volume, *pv;

    if (*config->node)
        (void)string_set_add(&ret->nodes, config->node);
    if (!config->volume)
        return NULL;
    log_names_add(&ret->names, config->volume);
    TRY(cluster_read(self, config->connection->kube, &config->query, cluster));
    find_volume(cluster, config->volume, &volume, &pv);
    if (!volume && !pv)
        log_warning("no volume %s is on record: only its name is looked for", config->volume);
    if (pv)
        log_names_add(&ret->names, pv->metadata->name);
    if (volume) {
        log_names_add(&ret->names, volume->metadata->name);
        log_names_add(&ret->names, volume_disk_id(volume));
    }
    if (volume && !*config->node)
        find_nodes(cluster, volume, &ret->nodes);
    return NULL;
}

static struct err *read_sources(struct task *self, struct kube *kube, json_t *ret_sources)
{
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    kube_pages_init(&pages, kube, &PODS, NULL,
                    &(struct kube_query){.label_selector = OF_THE_CHART, .limit = PAGE});
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
static struct err *find_sources(struct task *self, const struct logs_config *config,
                                const struct string_set *nodes, json_t *ret_wanted)
{
    CLEANUP(json_decrefp) json_t *all = json_array();
    size_t i, n_plugins = 0;
    json_t *source;

    TRY(read_sources(self, config->connection->kube, all));
    json_array_foreach(all, i, source) {
        bool is_plugin = json_is_true(json_object_get(source, "daemon"));
        const char *node = text_of(source, "node");

        if (is_plugin && !(node && string_set_has(nodes, node)))
            continue;
        n_plugins += is_plugin;
        json_array_append(ret_wanted, source);
    }
    return *config->node && !n_plugins
               ? err_new(ERR_NOT_FOUND, "no node plug-in has run on node %s", config->node)
               : NULL;
}

/* ---- reading them ---- */

static void note_unread(json_t *unread, const json_t *source, const char *error)
{
    json_array_append_new(unread,
                          json_pack("{s:s, s:s, s:s}", "pod", text_of(source, "pod"), "container",
                                    text_of(source, "container"), "error", error));
}

static void read_source(struct task *self, const struct logs_config *config,
                        struct bearer_token *token, const json_t *source,
                        const struct log_names *names, struct log_lines *lines, json_t *unread)
{
    CLEANUP(log_tail_fini) struct log_tail tail;
    const struct pod_log log = {.namespace_ = text_of(source, "namespace"),
                                .pod = text_of(source, "pod"),
                                .container = text_of(source, "container"),
                                .previous = json_is_true(json_object_get(source, "previous")),
                                .timestamps = true,
                                .since_ms = config->since_ms};

    log_tail_init(&tail, MOST_OF_A_LOG);
    CLEANUP(err_freep) struct err *err = pod_log_read(self, config->connection, token, &log, &tail);
    log_tail_end(&tail);
    log_lines_add(lines, source, tail.text.data, tail.text.length, names);
    if (err)
        note_unread(unread, source, err_message(err));
    else if (tail.bytes > tail.text.length)
        note_unread(unread, source, "only its newest 16 MiB were looked at");
}

static void read_logs(struct task *self, const struct logs_config *config, const json_t *sources,
                      const struct log_names *names, json_t **ret)
{
    struct bearer_token *token = bearer_token_new(loop_of(self), &config->connection->config);
    struct log_lines lines = {0};
    json_t *unread = json_array(), *source;
    size_t i;

    json_array_foreach(sources, i, source) {
        if (lines.bytes < MOST_OF_ALL)
            read_source(self, config, token, source, names, &lines, unread);
        else
            note_unread(unread, source, "the lines of the others have 64 MiB");
    }
    *ret = json_pack("{s:o, s:o}", "lines", log_lines_json(&lines), "unread", unread);
    log_lines_fini(&lines);
    bearer_token_unref(token);
}

struct err *logs_json(struct task *self, const struct logs_config *config, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(json_decrefp) json_t *sources = json_array();
    struct subject subject = {0};
    struct err *err = find_subject(self, config, &cluster, &subject);

    if (!err)
        err = find_sources(self, config, &subject.nodes, sources);
    string_set_clear(&subject.nodes);
    if (!err)
        read_logs(self, config, sources, &subject.names, ret);
    return err;
}

/* ---- what is said of it ---- */

bool logs_are_complete(const json_t *document)
{
    return json_array_size(json_object_get(document, "unread")) == 0;
}

void logs_text(const json_t *document, struct buffer *out)
{
    static const char *const members[] = {"time", "pod", "container", "text"};
    struct text_table table = {.columns = COUNT_OF(members)};
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(document, "lines"), i, entry)
        text_table_add_members(&table, entry, members);
    text_table_write(&table, "", out);
    json_array_foreach(json_object_get(document, "unread"), i, entry)
        buffer_printf(out, "incomplete: %s %s: %s\n", text_of(entry, "pod"),
                      text_of(entry, "container"), text_of(entry, "error"));
}
