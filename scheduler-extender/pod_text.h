/* pod_text.h - of a Pod in a request the few members that are asked for.
 *
 * Built are its name, its namespace and its volumes with claims; the rest is passed over, so that
 * what is sent costs no more memory than it takes itself. Any thread.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/arena.h"
#include "lib/json/cursor.h"

enum { POD_MAX_CLAIMS = 1000 };

/* `text` has been checked by json_validate; of length 0: there is none. INVALID, with the member;
 * EXHAUSTED for more claims than these. The pod lives in `arena`. */
struct err *pod_text_read(const struct json_piece *text, struct arena *arena, Api__Pod **ret)
    __attribute__((warn_unused_result));

/* A name between its quotes, as the text spells it: there is nothing to escape in one. NULL if
 * there is no such member, or if it is no name. */
char *text_name(const struct json_piece *object, const char *name, struct arena *arena);
