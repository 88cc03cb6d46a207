/* page_token.h - where the next page of a list begins: the name after which to go on, of an object
 * that may be gone by then. Objects that come or go do not move others to another page.
 */
#pragma once

#include "controller/controller.h"
#include "lib/base/arena.h"

/* The key of the last object that was listed, "" if none was; free() it. BUSY (ABORTED), as CSI
 * wants it, if the token is not from an answer of this call. */
struct err *page_token_read(const struct controller *controller, const char *call,
                            const char *token, char **ret_key) __attribute__((warn_unused_result));
char *page_token_after(struct arena *arena, const struct kube_object *last);
