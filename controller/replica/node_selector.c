#include "controller/replica/node_selector.h"

#include "lib/kube/selector.h"
#include "lib/kube/selector_text.h"
#include "provisioner-lib/records/volume.h"

void replica_selector_of(const Api__AzVolume *volume, struct replica_selector *ret)
{
    const char *text = volume_parameter(volume, "replicaNodeSelector");

    *ret = (struct replica_selector){0};
    if (text)
        ret->unreadable = label_selector_parse(text, &ret->labels);
}

void replica_selector_fini(struct replica_selector *selector)
{
    label_selector_free(selector->labels);
    err_free(selector->unreadable);
}

bool replica_selector_allows(const struct replica_selector *selector, const Api__Node *node)
{
    if (selector->unreadable)
        return false;
    return !selector->labels || label_selector_matches(selector->labels, node->metadata);
}
