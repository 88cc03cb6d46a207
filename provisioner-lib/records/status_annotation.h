/* status_annotation.h - a note in status.annotation of a custom resource, as it is written. Readers
 * are with the kinds of objects (attachment_annotation, volume_annotation). Pure; for all programs.
 */
#pragma once

#include <jansson.h>

/* A merge patch; `value` NULL takes the note away. */
json_t *status_annotation_json(const char *name, const char *value);
