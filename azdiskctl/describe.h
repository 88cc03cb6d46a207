/* describe.h - `azdiskctl describe`: all that is on record about an object, what it belongs to, and
 * its Events. Pure: a cluster becomes a document.
 *
 * An object has its members as the API server has them, so far as lib/api/azdisk.proto declares
 * them, and beside them
 *
 *     facts                        what get shows of it (facts.h)
 *     conditions                   all of its status
 *     volumes, attachments, nodes  the facts of what it belongs to, and of what belongs to it
 *     events                       those that Kubernetes still has, the last one at the end
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/kind.h"

/* A document of the selection (kind.h). */
json_t *describe_json(const struct cluster *cluster, const struct selection *selection);
