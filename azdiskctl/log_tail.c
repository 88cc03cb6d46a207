#include "azdiskctl/log_tail.h"

#include <stdlib.h>
#include <string.h>

void log_tail_init(struct log_tail *tail, size_t most)
{
    *tail = (struct log_tail){.most = most};
    buffer_init(&tail->text, 2 * most);
}

void log_tail_fini(struct log_tail *tail)
{
    buffer_fini(&tail->text);
}

void log_tail_add(struct log_tail *tail, const char *data, size_t length)
{
    size_t skipped = length > tail->most ? length - tail->most : 0;

    tail->bytes += length;
    if (tail->text.length + length - skipped > 2 * tail->most)
        buffer_consume(&tail->text, tail->text.length + length - skipped - tail->most);
    if (!buffer_append(&tail->text, data + skipped, length - skipped))
        abort(); /* it has room for that */
}

void log_tail_end(struct log_tail *tail)
{
    struct buffer *text = &tail->text;

    if (tail->bytes <= tail->most)
        return;
    if (text->length > tail->most)
        buffer_consume(text, text->length - tail->most);
    const char *end = memchr(text->data, '\n', text->length);
    buffer_consume(text, end ? (size_t)(end - text->data) + 1 : text->length);
}
