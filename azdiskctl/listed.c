#include "azdiskctl/listed.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/kube/pages.h"

enum { PAGE = 500 };

static struct err *take_page(const struct api_resource *resource, const json_t *page,
                             struct listed *listed)
{
    const json_t *items = json_object_get(page, "items");

    for (size_t i = 0; i < json_array_size(items); i++) {
        struct kube_object *object;

        TRY(kube_object_decode(resource->type, json_array_get(items, i), &object));
        ARRAY_ADD(listed->items, listed->list.n) = object;
        listed->list.items = listed->items;
    }
    return NULL;
}

struct err *listed_read(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const struct kube_query *query, struct listed *ret)
{
    struct kube_query paged = *query;
    CLEANUP(kube_pages_fini) struct kube_pages pages;
    unsigned limit = 0;

    *ret = (struct listed){0};
    paged.limit = PAGE;
    kube_pages_init(&pages, kube, resource, namespace_, &paged);
    kube_pages_adapt(&pages, &limit);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            return NULL;
        TRY(take_page(resource, page, ret));
    }
}

void listed_fini(struct listed *listed)
{
    for (size_t i = 0; i < listed->list.n; i++)
        kube_object_unref(listed->items[i]);
    free(listed->items);
}
