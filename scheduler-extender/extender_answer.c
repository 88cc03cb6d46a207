#include "scheduler-extender/extender_answer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

/* A node is in an answer by its own text once, or by its name twice, with a few words around it. */
enum { AROUND = 256, AROUND_NODE = 64 };

/* ---- writing into memory that was made large enough for all ---- */

struct writer {
    char *text;
    size_t length, size;
};

static inline void put(struct writer *to, const char *data, size_t length)
{
    if (length > to->size - to->length)
        abort(); /* more than was asked */
    memcpy(to->text + to->length, data, length);
    to->length += length;
}

#define PUT(to, literal) put((to), (literal), sizeof(literal) - 1)

static inline void put_name(struct writer *to, const struct named *name)
{
    put(to, name->text, name->length);
}

static void put_number(struct writer *to, unsigned number)
{
    char digits[12], *at = digits + sizeof digits;

    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(to, at, (size_t)(digits + sizeof digits - at));
}

static size_t largest_answer(const struct extender_args *asked)
{
    size_t bytes = AROUND + asked->nodes.length;

    for (size_t i = 0; i < asked->n_nodes; i++)
        bytes += AROUND_NODE + 2 * (size_t)asked->names[i].length;
    return bytes;
}

static struct writer start(const struct extender_args *asked)
{
    size_t size = largest_answer(asked);

    return (struct writer){.text = mem_grow(NULL, size + 1), .size = size};
}

static char *finish(struct writer *writer)
{
    writer->text[writer->length] = '\0';
    return writer->text;
}

/* ---- scores ---- */

char *answer_scores(const struct extender_args *asked, const unsigned *scores)
{
    struct writer text = start(asked);
    bool first = true;

    PUT(&text, "[");
    for (size_t i = 0; scores && i < asked->n_nodes; i++) {
        if (!scores[i])
            continue;
        if (!first)
            PUT(&text, ",");
        first = false;
        PUT(&text, "{\"Host\":\"");
        put_name(&text, &asked->names[i]);
        PUT(&text, "\",\"Score\":");
        put_number(&text, scores[i]);
        PUT(&text, "}");
    }
    PUT(&text, "]");
    return finish(&text);
}

/* ---- filter ---- */

/* The allowed nodes, as a list in the form in which they came. */
static void write_allowed(struct writer *text, const struct extender_args *asked,
                          const bool *allowed)
{
    bool first = true;

    PUT(text, "[");
    for (size_t i = 0; i < asked->n_nodes; i++) {
        if (!allowed[i])
            continue;
        if (!first)
            PUT(text, ",");
        first = false;
        if (asked->form == NODES_WHOLE) {
            put(text, asked->objects[i].text, asked->objects[i].length);
            continue;
        }
        PUT(text, "\"");
        put_name(text, &asked->names[i]);
        PUT(text, "\"");
    }
    PUT(text, "]");
}

static void write_failed(struct writer *text, const struct extender_args *asked,
                         const bool *allowed)
{
    bool first = true;

    for (size_t i = 0; i < asked->n_nodes; i++) {
        if (allowed[i])
            continue;
        if (!first)
            PUT(text, ",");
        first = false;
        PUT(text, "\"");
        put_name(text, &asked->names[i]);
        PUT(text, "\":\"AzDriverNode for ");
        put_name(text, &asked->names[i]);
        PUT(text, " is not ready.\"");
    }
}

static void write_nodes(struct writer *text, const struct extender_args *asked, const bool *allowed)
{
    if (asked->form != NODES_WHOLE) {
        PUT(text, "null");
        return;
    }
    if (!allowed) {
        put(text, asked->nodes.text, asked->nodes.length);
        return;
    }
    PUT(text, "{\"items\":");
    write_allowed(text, asked, allowed);
    PUT(text, "}");
}

static void write_names(struct writer *text, const struct extender_args *asked, const bool *allowed)
{
    if (asked->form != NODES_BY_NAME)
        PUT(text, "null");
    else if (!allowed)
        put(text, asked->nodes.text, asked->nodes.length);
    else
        write_allowed(text, asked, allowed);
}

char *answer_filter(const struct extender_args *asked, const bool *allowed)
{
    struct writer text = start(asked);

    PUT(&text, "{\"Nodes\":");
    write_nodes(&text, asked, allowed);
    PUT(&text, ",\"NodeNames\":");
    write_names(&text, asked, allowed);
    PUT(&text, ",\"FailedNodes\":{");
    if (allowed)
        write_failed(&text, asked, allowed);
    PUT(&text, "},\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
    return finish(&text);
}
