/* kind.h - the kinds of objects that get and describe show, the words that people have for them,
 * and which objects a command line means.
 *
 * Pure; borrows from the command line and the cluster.
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/named_kind.h"
#include "azdiskctl/overview.h"
#include "lib/base/buffer.h"

enum kind_id { KIND_VOLUMES, KIND_ATTACHMENTS, KIND_REPLICAS, KIND_NODES };
enum { KINDS = KIND_NODES + 1 };

struct kind {
    const char
        *words[6]; /* the first one is what messages and documents call them; NULL at the end */
    const struct api_resource *resource;
    size_t list;      /* offset of the object_list in struct cluster */
    const char *role; /* those of this role only; NULL: all */
};

const struct kind *kind_of(enum kind_id id);
enum kind_id kind_id(const struct kind *kind);
/* By any of its words, or by one as `-o name` prints it, with its API group; NULL if it is none. */
const struct kind *kind_find(const char *word);

/* All of them. */
named_kind_fn kind_named;

/* ---- which of them ---- */

struct selection {
    const struct kind *kind;
    const char **names; /* none: all */
    size_t n;
    const char *namespace_;      /* volumes with a claim there only; NULL: all */
    const struct filter *filter; /* filter.h; NULL: all */
};

/* `subject` is KIND, with names or without, or KIND/NAME. INVALID with the kinds that there are. */
struct err *selection_parse(const char *subject, const char *const *names, size_t n,
                            const char *namespace_, struct selection *ret)
    __attribute__((warn_unused_result));
void selection_fini(struct selection *selection);

/* What is shown of an object. */
typedef json_t *selection_item_fn(const struct overview *overview, const struct kind *kind,
                                  const struct kube_object *object);

/* The document of who shows a selection: {"kind": "volumes", "items": [...], "missing": [names]};
 * the items as they were named, or all in the order of their names. */
json_t *selection_json(const struct selection *selection, const struct cluster *cluster,
                       selection_item_fn *item);
/* No name is missing in such a document. */
bool selection_is_complete(const json_t *document);
/* What there is to complain of in it: a line for each missing name. */
void missing_text(const json_t *document, struct buffer *out);
