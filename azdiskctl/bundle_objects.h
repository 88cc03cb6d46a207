/* bundle_objects.h - the objects that somebody needs who helps with the driver: which, and which of
 * each kind. One table, a file for each row.
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/bundle_folder.h"
#include "lib/base/string_set.h"
#include "lib/kube/client.h"

/* What later rows and the logs go by. */
struct bundle_scope {
    const char *driver_name, *object_namespace; /* borrowed */
    struct string_set classes, volumes;         /* StorageClasses and PersistentVolumes by name */
    struct string_set namespaces;               /* of the driver's pods and records */
    struct string_set objects;                  /* all that was collected: "Kind/namespace/name" */
    json_t *logs;                               /* of the driver's pods: log_source.h */
};

void bundle_scope_init(struct bundle_scope *scope, const char *driver_name,
                       const char *object_namespace);
void bundle_scope_fini(struct bundle_scope *scope);

/* Adds a row {"file", "objects", "bytes", "leftOut", "error"} to `files` for each kind. What cannot
 * be read is such an error; an error here is that of the folder. */
struct err *bundle_objects(struct task *self, struct kube *kube, const struct bundle_folder *folder,
                           struct bundle_scope *scope, json_t *files)
    __attribute__((warn_unused_result));

/* For its test: whether the row of this file takes an object, which it notes in the scope then. */
bool bundle_takes(const char *file, struct bundle_scope *scope, const json_t *object);
