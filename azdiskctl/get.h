/* get.h - `azdiskctl get`: volumes, attachments or nodes, a line each. Pure: a cluster becomes a
 * document, and that becomes a table or names.
 */
#pragma once

#include "azdiskctl/kind.h"
#include "lib/base/buffer.h"

/* A document of the selection (kind.h), whose items are facts (facts.h). */
json_t *get_json(const struct cluster *cluster, const struct selection *selection);

void get_table(const json_t *document, struct buffer *out);
void get_wide(const json_t *document, struct buffer *out);
/* "azvolume.disk.csi.azure.com/pvc-1", as kubectl takes it. */
void get_names(const json_t *document, struct buffer *out);
