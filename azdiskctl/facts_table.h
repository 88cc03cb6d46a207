/* facts_table.h - the facts of objects of one kind as a table, or those of one object as a list.
 * Pure.
 */
#pragma once

#include "azdiskctl/kind.h"
#include "lib/base/buffer.h"

/* `rows` is a list of facts (facts.h). `wide`: with the columns that `-o wide` adds. */
void facts_table_write(enum kind_id kind, const json_t *rows, bool wide, const char *indent,
                       struct buffer *out);

/* What the columns of the wide table say of one object, by their titles; those that say nothing are
 * left out. */
json_t *facts_by_title(enum kind_id kind, const json_t *row);
