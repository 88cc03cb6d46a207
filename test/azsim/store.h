/* store.h - the model's state on disk, so that it survives the program.
 *
 * One file, one JSON document a line: first who it belongs to, then a snapshot, then each change as
 * the model committed it (model/record.h). A change is on its way to the disk before the answer
 * that reports it; a last line that was cut off is a change that nobody was told of. The file is
 * written anew, beside the old one and then renamed, at each start and when the changes have
 * outgrown the snapshot. Loop's thread.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

struct model;
struct store;

/* Opens the file in a folder and reads what is there; `owner` is a JSON object that must be the
 * same as when it was made. `ret_snapshot` is the caller's; an empty object if the file is new. */
struct err *store_open(const char *folder, const json_t *owner, struct store **ret_store,
                       json_t **ret_snapshot) __attribute__((warn_unused_result));
/* Begins to write: the model, which has been restored from the snapshot, as a new snapshot. */
struct err *store_start(struct store *store, const struct model *model)
    __attribute__((warn_unused_result));
/* The model's commit function; `ctx` is the store. Ends the program if the file cannot be written,
 * because then nothing that it answers would be true after a restart. */
void store_commit(void *ctx, json_t *changes);
void store_free(struct store *store); /* NULL is fine */
DEFINE_CLEANUP(struct store, store_free)
