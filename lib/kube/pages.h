/* pages.h - all pages of a list, each as large as an answer may be, and as comes in time.
 *
 * How large objects are, nobody knows before they come. A page that is too large for an answer is
 * asked for again with half as many objects, down to one; after a page that fits, the next one has
 * some more again. An object that is too large by itself is EXHAUSTED, with the name of the object
 * before it, for its own name is in the answer that cannot be read.
 *
 * Pages that do not come in time are made smaller for those who have time for that
 * (kube_pages_adapt); all others are told so at once. Loop's thread.
 */
#pragma once

#include "lib/kube/client.h"

struct kube_pages {
    struct kube *kube;
    const struct api_resource *resource;
    const char *namespace_;
    struct kube_query query; /* its limit is the most of a page */
    unsigned limit;          /* of the next page */
    unsigned *kept;          /* the same, for the next list; NULL: nobody keeps it */
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

/* For lists that have to come to their end on a slow link, too, and for who reads the same list
 * again and again: not to begin with a page that is too much. A page that comes too late is asked
 * for again with fewer objects, TIMEOUT if that has not helped; pages become larger only as long as
 * they come quickly. `limit` outlives the pages: where this list begins, and the next one (0: at
 * the most of a page). */
void kube_pages_adapt(struct kube_pages *pages, unsigned *limit);

/* The next page, as JSON; NULL after the last one. A list that is taken from what the server has at
 * hand (resource_version "0") comes as a whole: EXHAUSTED if it is too large. */
struct err *kube_pages_next(struct task *self, struct kube_pages *pages, json_t **ret_page)
    __attribute__((warn_unused_result));
