/* release.h - which release of the chart an object of the cluster is of, and who would delete it.
 *
 * Helm puts the release's name into annotations. What was rendered by `helm template` has it in the
 * chart's label only; Argo CD, which applies such a rendering, writes its application's name, by
 * which the release is called, into that label or into an annotation of its own. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* `release`: "NAMESPACE/NAME". No object is of no release. */
bool release_has(const char *release, const json_t *object);
/* "it belongs to release NAMESPACE/NAME"; free() it. */
char *release_name(const json_t *object) __attribute__((warn_unused_result));

/* Who deletes an object that is the release's, and that the chart lacks. */
struct pruner {
    const char *name;
    const char *annotation, *value; /* by which he is told to keep it */
};

/* NULL: he has been told to keep it. */
const struct pruner *pruner_of(const json_t *object);
/* What `kubectl annotate` is to be given, so that he keeps it; free() it. */
char *pruner_annotation(const struct pruner *pruner, const json_t *object)
    __attribute__((warn_unused_result));
