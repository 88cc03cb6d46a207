#include "scheduler-extender/extender_answer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

/* A node is in an answer by its own text once, or by its name twice, with a few words around it. */
enum { AROUND = 256, AROUND_NODE = 64 };

static size_t largest_answer(const struct extender_args *asked)
{
    size_t bytes = AROUND;

    for (size_t i = 0; i < asked->n_nodes; i++)
        bytes += AROUND_NODE + 2 * strlen(asked->names[i]) +
                 (asked->form == NODES_WHOLE ? asked->objects[i].length : 0);
    return bytes;
}

char *answer_scores(const struct extender_args *asked, const unsigned *scores)
{
    struct buffer text;

    buffer_init(&text, largest_answer(asked));
    buffer_printf(&text, "[");
    for (size_t i = 0; i < asked->n_nodes; i++)
        buffer_printf(&text, "%s{\"Host\":\"%s\",\"Score\":%u}", i ? "," : "", asked->names[i],
                      scores[i]);
    buffer_printf(&text, "]");
    return buffer_take(&text);
}

static void append(struct buffer *text, const char *data, size_t length)
{
    if (!buffer_append(text, data, length))
        abort(); /* more than was asked */
}

/* The allowed nodes, as a list in the form in which they came. */
static void write_allowed(struct buffer *text, const struct extender_args *asked,
                          const bool *allowed)
{
    const char *separator = "[";

    for (size_t i = 0; i < asked->n_nodes; i++) {
        if (!allowed[i])
            continue;
        buffer_printf(text, "%s", separator);
        if (asked->form == NODES_WHOLE)
            append(text, asked->objects[i].text, asked->objects[i].length);
        else
            buffer_printf(text, "\"%s\"", asked->names[i]);
        separator = ",";
    }
    buffer_printf(text, separator[0] == '[' ? "[]" : "]");
}

static void write_failed(struct buffer *text, const struct extender_args *asked,
                         const bool *allowed)
{
    const char *separator = "";

    for (size_t i = 0; i < asked->n_nodes; i++) {
        const char *name = asked->names[i];

        if (allowed[i])
            continue;
        buffer_printf(text, "%s\"%s\":\"AzDriverNode for %s is not ready.\"", separator, name,
                      name);
        separator = ",";
    }
}

char *answer_filter(const struct extender_args *asked, const bool *allowed)
{
    struct buffer text;

    buffer_init(&text, largest_answer(asked));
    buffer_printf(&text, "{\"Nodes\":");
    if (asked->form == NODES_WHOLE) {
        buffer_printf(&text, "{\"items\":");
        write_allowed(&text, asked, allowed);
        buffer_printf(&text, "}");
    } else {
        buffer_printf(&text, "null");
    }
    buffer_printf(&text, ",\"NodeNames\":");
    if (asked->form == NODES_BY_NAME)
        write_allowed(&text, asked, allowed);
    else
        buffer_printf(&text, "null");
    buffer_printf(&text, ",\"FailedNodes\":{");
    write_failed(&text, asked, allowed);
    buffer_printf(&text, "},\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    return buffer_take(&text);
}
