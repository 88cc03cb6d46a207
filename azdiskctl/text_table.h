/* text_table.h - rows of text in aligned columns, for a terminal.
 */
#pragma once

#include <jansson.h>

#include "lib/base/buffer.h"

enum { TABLE_COLUMNS = 12 };

struct text_table {
    size_t columns;
    char **cells; /* row after row */
    size_t n;
};

/* The next cell, to the right and then down; NULL is "-". */
void text_table_add(struct text_table *table, const char *text);
/* Takes the text. */
void text_table_take(struct text_table *table, char *text);
/* The next row: a text for each column, or the texts that a JSON object has as these members. */
void text_table_add_row(struct text_table *table, const char *const *texts);
void text_table_add_members(struct text_table *table, const json_t *object,
                            const char *const *members);
/* Writes the table, each line behind `indent`, and empties it. */
void text_table_write(struct text_table *table, const char *indent, struct buffer *out);
