/* why.h - `azdiskctl why`: everything that a pod, claim, volume, attachment or node stands on, and
 * the diagnosis.
 *
 * Pure: chains become a JSON document, and that becomes text.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"
#include "lib/base/buffer.h"

json_t *why_json(const char *subject, const struct dependency_chains *chains);
void why_text(const json_t *why, struct buffer *out);
