#include "azdiskctl/kind.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "azdiskctl/document.h"
#include "azdiskctl/filter.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"

#define LIST(member) offsetof(struct cluster, view.member)

/* clang-format off */
static const struct kind kinds[KINDS] = {
    [KIND_VOLUMES] = {{"volumes", "volume", "azvolumes", "azvolume", "azv"},
                      &AZ_VOLUMES, LIST(volumes), NULL},
    [KIND_ATTACHMENTS] = {{"attachments", "attachment", "azvolumeattachments", "azvolumeattachment", "azva"},
                          &AZ_VOLUME_ATTACHMENTS, LIST(attachments), NULL},
    [KIND_REPLICAS] = {{"replicas", "replica"}, &AZ_VOLUME_ATTACHMENTS, LIST(attachments), ROLE_REPLICA},
    [KIND_NODES] = {{"nodes", "node", "azdrivernodes", "azdrivernode", "azdn"},
                    &AZ_DRIVER_NODES, LIST(driver_nodes), NULL},
};
/* clang-format on */

const struct kind *kind_of(enum kind_id id)
{
    return &kinds[id];
}

enum kind_id kind_id(const struct kind *kind)
{
    return (enum kind_id)(kind - kinds);
}

bool kind_named(size_t i, struct named_kind *ret)
{
    if (i >= KINDS)
        return false;
    *ret = (struct named_kind){kinds[i].words, kinds[i].resource, kinds[i].role};
    return true;
}

/* "azvolume.disk.csi.azure.com" is the kind's word "azvolume". */
static bool is_word_of(const struct kind *kind, const char *known, const char *word)
{
    size_t length = strlen(known);

    if (strncasecmp(known, word, length) != 0)
        return false;
    return !word[length] ||
           (word[length] == '.' && strcasecmp(word + length + 1, kind->resource->group) == 0);
}

const struct kind *kind_find(const char *word)
{
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; kinds[i].words[j]; j++)
            if (is_word_of(&kinds[i], kinds[i].words[j], word))
                return &kinds[i];
    return NULL;
}

/* ---- which of them ---- */

struct err *selection_parse(const char *subject, const char *const *names, size_t n,
                            const char *namespace_, struct selection *ret)
{
    const char *slash = strchr(subject, '/');
    CLEANUP(freep)
    char *word = slash ? mem_strndup(subject, (size_t)(slash - subject)) : mem_strdup(subject);

    *ret = (struct selection){.kind = kind_find(word), .namespace_ = namespace_};
    if (!ret->kind)
        return err_new(ERR_INVALID,
                       "\"%s\" is none of the kinds volumes, attachments, replicas and nodes",
                       word);
    if (slash && (!slash[1] || n))
        return err_new(ERR_INVALID, "\"%s\": write KIND/NAME, or KIND and names", subject);
    if (namespace_ && kind_id(ret->kind) != KIND_VOLUMES)
        return err_new(ERR_INVALID,
                       "--namespace has no effect on %s: it is that of volumes' claims",
                       ret->kind->words[0]);
    if (slash)
        ARRAY_ADD(ret->names, ret->n) = slash + 1;
    for (size_t i = 0; i < n; i++)
        ARRAY_ADD(ret->names, ret->n) = names[i];
    return NULL;
}

void selection_fini(struct selection *selection)
{
    free(selection->names);
    *selection = (struct selection){0};
}

static bool has_claim_in(const struct overview *overview, const struct kube_object *volume,
                         const char *namespace_)
{
    CLEANUP(freep) char *claim = claim_of_pv(overview_pv(overview, volume_disk_id(volume)));
    size_t length = strlen(namespace_);

    return claim && strncmp(claim, namespace_, length) == 0 && claim[length] == '/';
}

static bool is_meant(const struct selection *selection, const struct overview *overview,
                     const struct kube_object *object)
{
    const char *role = selection->kind->role;

    if (role && !attachment_wants(as_attachment(object), role))
        return false;
    if (selection->namespace_ && !has_claim_in(overview, object, selection->namespace_))
        return false;
    return !selection->filter ||
           filter_passes(selection->filter, overview, kind_id(selection->kind), object);
}

static const struct object_list *list_of(const struct kind *kind, const struct cluster *cluster)
{
    return (const struct object_list *)(const void *)((const char *)cluster + kind->list);
}

struct chosen {
    struct kube_object **items;
    size_t n;
    const char **missing; /* names of none */
    size_t n_missing;
};

static void chosen_fini(struct chosen *chosen)
{
    free(chosen->items);
    free(chosen->missing);
}

static void choose_all(const struct selection *selection, const struct overview *overview,
                       struct chosen *ret)
{
    const struct object_list *list = list_of(selection->kind, overview->cluster);
    CLEANUP(freep) struct kube_object **sorted = objects_sorted(list);

    for (size_t i = 0; i < list->n; i++)
        if (is_meant(selection, overview, sorted[i]))
            ARRAY_ADD(ret->items, ret->n) = sorted[i];
}

static void choose(const struct selection *selection, const struct overview *overview,
                   struct chosen *ret)
{
    if (!selection->n)
        choose_all(selection, overview, ret);
    for (size_t i = 0; i < selection->n; i++) {
        struct kube_object *object =
            find_by(list_of(selection->kind, overview->cluster), key_name, selection->names[i]);

        if (object && is_meant(selection, overview, object))
            ARRAY_ADD(ret->items, ret->n) = object;
        else
            ARRAY_ADD(ret->missing, ret->n_missing) = selection->names[i];
    }
}

/* ---- as a document ---- */

static json_t *missing_json(const struct chosen *chosen)
{
    json_t *missing = json_array();

    for (size_t i = 0; i < chosen->n_missing; i++)
        json_array_append_new(missing, typed_name(chosen->missing[i]));
    return missing;
}

json_t *selection_json(const struct selection *selection, const struct cluster *cluster,
                       selection_item_fn *item)
{
    CLEANUP(overview_fini) struct overview overview = overview_of(cluster);
    CLEANUP(chosen_fini) struct chosen chosen = {0};
    json_t *items = json_array();

    choose(selection, &overview, &chosen);
    for (size_t i = 0; i < chosen.n; i++)
        json_array_append_new(items, item(&overview, selection->kind, chosen.items[i]));
    return json_pack("{s:s, s:o, s:o}", "kind", selection->kind->words[0], "items", items,
                     "missing", missing_json(&chosen));
}

bool selection_is_complete(const json_t *document)
{
    return json_array_size(json_object_get(document, "missing")) == 0;
}

void missing_text(const json_t *document, struct buffer *out)
{
    const json_t *missing = json_object_get(document, "missing");

    for (size_t i = 0; i < json_array_size(missing); i++)
        buffer_printf(out, "azdiskctl: %s: there is no \"%s\"\n", text_of(document, "kind"),
                      json_string_value(json_array_get(missing, i)));
}
