#include "azdiskctl/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"

void text_table_take(struct text_table *table, char *text)
{
    ARRAY_ADD(table->cells, table->n) = text;
}

void text_table_add(struct text_table *table, const char *text)
{
    text_table_take(table, mem_strdup(text && *text ? text : "-"));
}

void text_table_add_row(struct text_table *table, const char *const *texts)
{
    for (size_t i = 0; i < table->columns; i++)
        text_table_add(table, texts[i]);
}

void text_table_add_members(struct text_table *table, const json_t *object,
                            const char *const *members)
{
    for (size_t i = 0; i < table->columns; i++)
        text_table_add(table, text_of(object, members[i]));
}

void text_table_write(struct text_table *table, const char *indent, struct buffer *out)
{
    size_t widths[TABLE_COLUMNS] = {0};

    for (size_t i = 0; i < table->n; i++) {
        size_t length = strlen(table->cells[i]);

        if (length > widths[i % table->columns])
            widths[i % table->columns] = length;
    }
    for (size_t i = 0; i < table->n; i++) {
        size_t column = i % table->columns;

        if (column == 0)
            buffer_printf(out, "%s", indent);
        if (column + 1 < table->columns)
            buffer_printf(out, "%-*s  ", (int)widths[column], table->cells[i]);
        else
            buffer_printf(out, "%s\n", table->cells[i]);
        free(table->cells[i]);
    }
    free(table->cells);
    table->cells = NULL;
    table->n = 0;
}
