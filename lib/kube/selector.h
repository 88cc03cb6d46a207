/* selector.h - what Kubernetes means by selectors of labels and nodes, and by taints.
 *
 * Pure functions over messages, with the semantics of apimachinery/pkg/labels and of
 * component-helpers/scheduling/corev1. A selector that makes no sense, with an operator that is not
 * known for instance, selects nothing. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/api/kubernetes.pb-c.h"

/* NULL selects nothing, an empty selector everything. */
bool label_selector_matches(const Api__LabelSelector *selector, const Api__ObjectMeta *object);

/* All requirements of the term; one without any selects nothing. */
bool node_term_matches(const Api__NodeSelectorTerm *term, const Api__ObjectMeta *node);
/* Any of the terms. NULL selects every node. */
bool node_selector_matches(const Api__NodeSelector *selector, const Api__ObjectMeta *node);

bool is_tolerated(const Api__Taint *taint, Api__Toleration *const *tolerations, size_t n);
