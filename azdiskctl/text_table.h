/* text_table.h - rows of text in aligned columns, for a terminal.
 */
#pragma once

#include "lib/base/buffer.h"

enum { TABLE_COLUMNS = 8 };

struct text_table {
    size_t columns;
    char **cells; /* row after row */
    size_t n;
};

/* The next cell, to the right and then down; NULL is "-". */
void text_table_add(struct text_table *table, const char *text);
/* Takes the text. */
void text_table_take(struct text_table *table, char *text);
/* Writes the table, each line behind `indent`, and empties it. */
void text_table_write(struct text_table *table, const char *indent, struct buffer *out);
