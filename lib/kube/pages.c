#include "lib/kube/pages.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

void kube_pages_init(struct kube_pages *pages, struct kube *kube,
                     const struct api_resource *resource, const char *namespace_,
                     const struct kube_query *query)
{
    *pages = (struct kube_pages){.kube = kube,
                                 .resource = resource,
                                 .namespace_ = namespace_,
                                 .query = *query,
                                 .limit = query->limit};
}

void kube_pages_fini(struct kube_pages *pages)
{
    free(pages->next);
    free(pages->version);
    free(pages->last);
    *pages = (struct kube_pages){0};
}

/* ---- what a page says ---- */

static const char *metadata_of(const json_t *object, const char *member)
{
    const json_t *metadata = json_object_get(object, "metadata");
    const char *text = json_string_value(json_object_get(metadata, member));

    return text && *text ? text : NULL;
}

static void set_text(char **text, char *value)
{
    free(*text);
    *text = value;
}

static void note_last(struct kube_pages *pages, const json_t *page)
{
    const json_t *items = json_object_get(page, "items");
    size_t n = json_array_size(items);
    const json_t *last = n ? json_array_get(items, n - 1) : NULL;
    const char *name = last ? metadata_of(last, "name") : NULL;

    if (name)
        set_text(&pages->last, kube_key(metadata_of(last, "namespace"), name));
}

static struct err *take(struct kube_pages *pages, const json_t *page)
{
    const char *version = metadata_of(page, "resourceVersion");

    if (!version)
        return err_new(ERR_INTERNAL, "a list without a resourceVersion");
    set_text(&pages->version, mem_strdup(version));
    set_text(&pages->next, mem_strdup(metadata_of(page, "continue")));
    pages->ended = !pages->next;
    note_last(pages, page);
    pages->limit += pages->limit / 4 + 1;
    if (pages->limit > pages->query.limit)
        pages->limit = pages->query.limit;
    return NULL;
}

/* ---- asking ---- */

static struct err *ask(struct task *self, const struct kube_pages *pages, json_t **ret_page)
{
    struct kube_query query = pages->query;

    query.limit = pages->limit;
    query.continue_token = pages->next;
    if (pages->next)
        query.resource_version = NULL; /* the token has it */
    return kube_list_page(self, pages->kube, pages->resource, pages->namespace_, &query, ret_page);
}

static struct err *too_large(const struct kube_pages *pages, struct err *err)
{
    err_free(err);
    if (!pages->last)
        return err_new(ERR_EXHAUSTED,
                       "the first of the %s is too large to read (more than %d MiB): reduce its "
                       "size or delete it",
                       pages->resource->plural, KUBE_LARGEST_LIST >> 20);
    return err_new(ERR_EXHAUSTED,
                   "the object among the %s that follows %s in the order of names is too large to "
                   "read (more than %d MiB): reduce its size or delete it",
                   pages->resource->plural, pages->last, KUBE_LARGEST_LIST >> 20);
}

/* Without its limit, a list from what is at hand would come no smaller. */
static bool can_be_halved(const struct kube_pages *pages)
{
    return pages->limit > 1 && (pages->next || !pages->query.resource_version);
}

struct err *kube_pages_next(struct task *self, struct kube_pages *pages, json_t **ret_page)
{
    CLEANUP(json_decrefp) json_t *page = NULL;
    struct err *err;

    *ret_page = NULL;
    if (pages->ended)
        return NULL;
    while ((err = ask(self, pages, &page)) && err_kind(err) == ERR_EXHAUSTED &&
           can_be_halved(pages)) {
        err_free(err);
        pages->limit /= 2;
    }
    if (err)
        return err_kind(err) == ERR_EXHAUSTED && pages->limit == 1 ? too_large(pages, err) : err;
    TRY(take(pages, page));
    *ret_page = TAKE_PTR(page);
    return NULL;
}
