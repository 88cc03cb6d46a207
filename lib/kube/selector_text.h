/* selector_text.h - a label selector as people write it for `kubectl get -l`.
 *
 *     pool=db,size in (large,huge),kubernetes.azure.com/scalesetpriority!=spot,!gpu
 *
 * All of its requirements, which commas separate, have to hold. Pure functions; any thread.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/err.h"

enum { SELECTOR_TEXT_MAX = 1024 };

/* The message that selector.h goes by. INVALID, with the text and where in it is what cannot be
 * understood; `>` and `<` are not known. An empty text selects everything. */
struct err *label_selector_parse(const char *text, Api__LabelSelector **ret)
    __attribute__((warn_unused_result));
void label_selector_free(Api__LabelSelector *selector);
DEFINE_CLEANUP(Api__LabelSelector, label_selector_free)
