/* redact_object.h - objects of the API server, without the secrets in them.
 *
 * By what Kubernetes' objects have where, and then by the looks of each text (redact.h). References
 * to Secrets are names and stay. Pure.
 */
#pragma once

#include <jansson.h>

/* A copy. Values of pairs of name and value, such as those of the environment, are removed whatever
 * they are; so is what `kubectl apply` was given, and managedFields are left out. */
json_t *redact_object(const json_t *object) __attribute__((warn_unused_result));

/* What somebody says of an error, which may quote what is not UTF-8. */
json_t *redact_note(const char *text) __attribute__((warn_unused_result));
