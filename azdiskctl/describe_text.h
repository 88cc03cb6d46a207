/* describe_text.h - the document of `azdiskctl describe` as text, in the layout of kubectl
 * describe.
 *
 * Members have their own names with spaces, so that a field that is new is shown without more ado.
 * Pure.
 */
#pragma once

#include <jansson.h>

#include "lib/base/buffer.h"

void describe_text(const json_t *document, struct buffer *out);
