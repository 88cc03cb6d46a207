#include "lib/kube/pages.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/rt/loop.h"

enum {
    QUICK_MS = KUBE_CALL_TIMEOUT_MS / 2, /* one that is larger will still come in time */
    MOST_LATE = 3,                       /* of one page, before that is told */
};

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

void kube_pages_adapt(struct kube_pages *pages, unsigned *limit)
{
    pages->kept = limit;
    if (*limit)
        pages->limit = *limit;
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
    return NULL;
}

/* ---- how large a page is ---- */

static void set_limit(struct kube_pages *pages, unsigned limit)
{
    pages->limit = limit < pages->query.limit ? limit : pages->query.limit;
    if (pages->kept)
        *pages->kept = pages->limit;
}

/* Without its limit, a list from what is at hand would come no smaller. */
static bool can_shrink(const struct kube_pages *pages)
{
    return pages->limit > 1 && (pages->next || !pages->query.resource_version);
}

/* Whether a smaller page is to be asked for after this failure. A page that is late has cost all
 * the time of a call, so the next one is much smaller. */
static bool shrink(struct kube_pages *pages, enum err_kind kind, unsigned *late)
{
    bool is_late = pages->kept && kind == ERR_TIMEOUT;

    if ((!is_late && kind != ERR_EXHAUSTED) || !can_shrink(pages))
        return false;
    set_limit(pages, is_late ? (pages->limit + 3) / 4 : pages->limit / 2);
    return !is_late || ++*late < MOST_LATE;
}

/* ---- asking ---- */

static struct err *ask(struct task *self, struct kube_pages *pages, json_t **ret_page)
{
    struct kube_query query = pages->query;
    uint64_t began = loop_now(loop_of(self));

    query.limit = pages->limit;
    query.continue_token = pages->next;
    if (pages->next)
        query.resource_version = NULL; /* the token has it */
    TRY(kube_list_page(self, pages->kube, pages->resource, pages->namespace_, &query, ret_page));
    if (loop_now(loop_of(self)) - began < QUICK_MS)
        set_limit(pages, pages->limit + pages->limit / 4 + 1);
    return NULL;
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

struct err *kube_pages_next(struct task *self, struct kube_pages *pages, json_t **ret_page)
{
    CLEANUP(json_decrefp) json_t *page = NULL;
    unsigned late = 0;
    struct err *err;

    *ret_page = NULL;
    if (pages->ended)
        return NULL;
    while ((err = ask(self, pages, &page)) && shrink(pages, err_kind(err), &late))
        err_free(err);
    if (err)
        return err_kind(err) == ERR_EXHAUSTED && pages->limit == 1 ? too_large(pages, err) : err;
    TRY(take(pages, page));
    *ret_page = TAKE_PTR(page);
    return NULL;
}
