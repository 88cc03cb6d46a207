#include "azdiskctl/release.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#define LABEL_INSTANCE "app.kubernetes.io/instance"
#define HELM_NAME "meta.helm.sh/release-name"
#define HELM_NAMESPACE "meta.helm.sh/release-namespace"
#define ARGO_TRACKING "argocd.argoproj.io/tracking-id" /* APPLICATION:GROUP/KIND:NAMESPACE/NAME */

static const char *annotation_of(const json_t *object, const char *annotation)
{
    const json_t *metadata = json_object_get(object, "metadata");

    return text_of(json_object_get(metadata, "annotations"), annotation);
}

/* ---- whose it is ---- */

/* "NAMESPACE/NAME" of the release that Helm has made it for; NULL if Helm has not; free() it. */
static char *release_of(const json_t *object)
{
    const char *name = annotation_of(object, HELM_NAME);
    const char *namespace_ = annotation_of(object, HELM_NAMESPACE);

    return name ? mem_printf("%s/%s", namespace_ ? namespace_ : "", name) : NULL;
}

static bool is_labelled(const json_t *object, const char *name)
{
    const json_t *metadata = json_object_get(object, "metadata");

    return same_text(text_of(json_object_get(metadata, "labels"), LABEL_INSTANCE), name);
}

static bool is_tracked_by(const json_t *object, const char *application)
{
    const char *tracking = annotation_of(object, ARGO_TRACKING);
    size_t length = strlen(application);

    return tracking && strncmp(tracking, application, length) == 0 && tracking[length] == ':';
}

bool release_has(const char *release, const json_t *object)
{
    const char *slash = release ? strchr(release, '/') : NULL;
    CLEANUP(freep) char *found = release_of(object);

    if (found)
        return same_text(found, release);
    return slash && (is_labelled(object, slash + 1) || is_tracked_by(object, slash + 1));
}

char *release_name(const json_t *object)
{
    CLEANUP(freep) char *release = release_of(object);

    return release ? mem_printf("it belongs to release %s", release)
                   : mem_strdup("it is not of this release, nor of any other of Helm's");
}

/* ---- who would delete it ---- */

const struct pruner *pruner_of(const json_t *object)
{
    static const struct pruner helm = {"Helm", "helm.sh/resource-policy", "keep"};
    static const struct pruner other = {"whatever applies the chart and prunes, as Argo CD does,",
                                        "argocd.argoproj.io/sync-options", "Prune=false"};
    const struct pruner *pruner = annotation_of(object, HELM_NAME) ? &helm : &other;
    const char *said = annotation_of(object, pruner->annotation);

    return said && strstr(said, pruner->value) ? NULL : pruner;
}

char *pruner_annotation(const struct pruner *pruner, const json_t *object)
{
    const char *said = annotation_of(object, pruner->annotation);

    return said ? mem_printf("%s=%s,%s --overwrite", pruner->annotation, said, pruner->value)
                : mem_printf("%s=%s", pruner->annotation, pruner->value);
}
