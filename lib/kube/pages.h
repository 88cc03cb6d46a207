/* pages.h - all pages of a list, each as large as an answer may be.
 *
 * How large objects are, nobody knows before they come. A page that is too large for an answer is
 * asked for again with half as many objects, down to one; after a page that fits, the next one has
 * some more again. An object that is too large by itself is EXHAUSTED, with the name of the object
 * before it, for its own name is in the answer that cannot be read. Loop's thread.
 */
#pragma once

#include "lib/kube/client.h"

struct kube_pages {
    struct kube *kube;
    const struct api_resource *resource;
    const char *namespace_;
    struct kube_query query; /* its limit is the most of a page */
    unsigned limit;          /* of the next page */
    char *next;              /* its token; NULL: it is the first */
    char *version;           /* of the list, as the last page has it */
    char *last;              /* key of the last object that came; NULL: none */
    bool ended;
};

/* What `query` points to must outlive the pages. Call kube_pages_fini in any case. */
void kube_pages_init(struct kube_pages *pages, struct kube *kube,
                     const struct api_resource *resource, const char *namespace_,
                     const struct kube_query *query);
void kube_pages_fini(struct kube_pages *pages);

/* The next page, as JSON; NULL after the last one. A list that is taken from what the server has at
 * hand (resource_version "0") comes as a whole: EXHAUSTED if it is too large. */
struct err *kube_pages_next(struct task *self, struct kube_pages *pages, json_t **ret_page)
    __attribute__((warn_unused_result));
