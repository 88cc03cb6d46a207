#include "azdiskctl/describe_text.h"

#include <ctype.h>
#include <string.h>

#include "azdiskctl/age.h"
#include "azdiskctl/document.h"
#include "azdiskctl/facts_table.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"

enum { STEP = 2 }; /* of what is below something */

/* ---- members, whatever they are ---- */

/* Members that are maps: the names in them are somebody's own, and stay as they are. */
static bool is_map(const char *name)
{
    static const char *const maps[] = {"parameters",      "mutableParameters", "volume_context",
                                       "publish_context", "annotation",        "segments"};

    for (size_t i = 0; i < COUNT_OF(maps); i++)
        if (strcmp(maps[i], name) == 0)
            return true;
    return false;
}

/* "maxMountReplicaCount" is "Max Mount Replica Count". */
static char *title_of(const char *name, bool in_map)
{
    struct buffer title;
    char before = ' ';

    if (in_map)
        return mem_strdup(name);
    buffer_init(&title, 2 * strlen(name) + 2);
    for (const char *c = name; *c; before = *c++) {
        bool begins = before == '_' || before == ' ' ||
                      (isupper((unsigned char)*c) && islower((unsigned char)before));

        if (begins && title.length && before != ' ')
            buffer_printf(&title, " ");
        if (*c != '_')
            buffer_printf(&title, "%c", begins ? toupper((unsigned char)*c) : *c);
    }
    return buffer_take(&title);
}

static char *scalar_text(const json_t *value)
{
    if (json_is_string(value))
        return mem_strdup(json_string_value(value));
    if (json_is_boolean(value))
        return mem_strdup(json_is_true(value) ? "true" : "false");
    return json_is_integer(value) ? mem_printf("%lld", (long long)json_integer_value(value))
                                  : mem_printf("%g", json_number_value(value));
}

static bool is_scalar(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

/* Conditions have a table of their own; what is empty is not said. */
static bool is_shown(const char *name, const json_t *value)
{
    if (strcmp(name, "conditions") == 0)
        return false;
    return json_is_string(value)
               ? json_string_length(value) > 0
               : is_scalar(value) || json_object_size(value) || json_array_size(value);
}

/* Those of the scalars, which stand in one column. */
static int width_of_titles(const json_t *object, bool in_map)
{
    json_t *value;
    const char *name;
    size_t width = 0;

    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        CLEANUP(freep) char *title = title_of(name, in_map);

        if (is_shown(name, value) && is_scalar(value) && strlen(title) > width)
            width = strlen(title);
    }
    return (int)width + 1;
}

static void write_pair(struct buffer *out, int indent, int width, const char *title,
                       const char *text)
{
    CLEANUP(freep) char *mark = mem_printf("%s:", title);

    buffer_printf(out, "%*s%-*s  %s\n", indent, "", width, mark, text);
}

static void write_members(const json_t *object, bool in_map, int indent, struct buffer *out);

static void write_items(const json_t *list, int indent, struct buffer *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        if (json_is_object(item)) {
            write_members(item, false, indent, out);
        } else {
            CLEANUP(freep) char *text = scalar_text(item);
            buffer_printf(out, "%*s%s\n", indent, "", text);
        }
    }
}

static void write_member(const char *name, bool in_map, const json_t *value, int indent, int width,
                         struct buffer *out)
{
    CLEANUP(freep) char *title = title_of(name, in_map);

    if (is_scalar(value)) {
        CLEANUP(freep) char *text = scalar_text(value);

        write_pair(out, indent, width, title, text);
        return;
    }
    buffer_printf(out, "%*s%s:\n", indent, "", title);
    if (json_is_array(value))
        write_items(value, indent + STEP, out);
    else
        write_members(value, is_map(name), indent + STEP, out);
}

static void write_members(const json_t *object, bool in_map, int indent, struct buffer *out)
{
    int width = width_of_titles(object, in_map);
    json_t *value;
    const char *name;

    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (is_shown(name, value))
            write_member(name, in_map, value, indent, width, out);
    }
}

/* Nothing, if it has no members. */
static void write_part(const char *name, const json_t *part, struct buffer *out)
{
    if (json_object_size(part))
        write_member(name, false, part, 0, 0, out);
}

/* ---- the head, as that of every kubectl describe ---- */

enum { HEAD_WIDTH = sizeof "Annotations:" - 1 };

static void write_map(struct buffer *out, const char *title, const json_t *map, const char *between)
{
    json_t *value;
    const char *name;

    if (!json_object_size(map))
        write_pair(out, 0, HEAD_WIDTH, title, "<none>");
    json_object_foreach((json_t *)(uintptr_t)map, name, value) {
        if (title)
            buffer_printf(out, "%s:%*s", title, (int)(HEAD_WIDTH - strlen(title) - 1), "");
        else
            buffer_printf(out, "%*s", HEAD_WIDTH, "");
        buffer_printf(out, "  %s%s%s\n", name, between, json_string_value(value));
        title = NULL;
    }
}

static void write_head(const json_t *item, struct buffer *out)
{
    static const char *const above[] = {"name", "namespace", "labels", "annotations"};
    const json_t *metadata = json_object_get(item, "metadata");
    const char *namespace_ = text_of(metadata, "namespace");
    CLEANUP(json_decrefp) json_t *rest = json_copy((json_t *)(uintptr_t)metadata);

    write_pair(out, 0, HEAD_WIDTH, "Name", text_of(metadata, "name"));
    write_pair(out, 0, HEAD_WIDTH, "Namespace", namespace_ ? namespace_ : "<none>");
    write_map(out, "Labels", json_object_get(metadata, "labels"), "=");
    write_map(out, "Annotations", json_object_get(metadata, "annotations"), ": ");
    write_pair(out, 0, HEAD_WIDTH, "API Version", text_of(item, "apiVersion"));
    write_pair(out, 0, HEAD_WIDTH, "Kind", text_of(item, "kind"));
    for (size_t i = 0; i < COUNT_OF(above); i++)
        json_object_del(rest, above[i]);
    write_part("metadata", rest, out);
}

/* ---- tables ---- */

/* With lines below the titles, as kubectl has them. */
static void begin_table(struct text_table *table, const char *const *titles, size_t n)
{
    *table = (struct text_table){.columns = n};
    text_table_add_row(table, titles);
    for (size_t i = 0; i < n; i++)
        text_table_take(table,
                        mem_printf("%.*s", (int)strlen(titles[i]), "------------------------"));
}

static void write_conditions(const json_t *conditions, struct buffer *out)
{
    static const char *const titles[] = {"Type", "Status", "LastTransitionTime", "Reason",
                                         "Message"};
    static const char *const members[] = {"type", "status", "lastTransitionTime", "reason",
                                          "message"};
    struct text_table table;

    if (!conditions)
        return;
    buffer_printf(out, "Conditions:\n");
    begin_table(&table, titles, COUNT_OF(titles));
    for (size_t i = 0; i < json_array_size(conditions); i++)
        text_table_add_members(&table, json_array_get(conditions, i), members);
    text_table_write(&table, "  ", out);
}

/* "2m (x3 over 50m)" */
static char *event_age(const json_t *event)
{
    const json_t *last = json_object_get(event, "ageSeconds");
    const json_t *first = json_object_get(event, "firstSeconds");
    CLEANUP(freep) char *age = last ? age_text(json_integer_value(last)) : mem_strdup("-");
    CLEANUP(freep) char *since = first ? age_text(json_integer_value(first)) : NULL;

    return since ? mem_printf("%s (x%d over %s)", age,
                              (int)json_integer_value(json_object_get(event, "count")), since)
                 : TAKE_PTR(age);
}

static void write_events(const json_t *events, struct buffer *out)
{
    static const char *const titles[] = {"Type", "Reason", "Age", "From", "Message"};
    struct text_table table;

    if (!json_array_size(events)) {
        buffer_printf(out, "Events:  <none>\n");
        return;
    }
    buffer_printf(out, "Events:\n");
    begin_table(&table, titles, COUNT_OF(titles));
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);

        text_table_add(&table, text_of(event, "type"));
        text_table_add(&table, text_of(event, "reason"));
        text_table_take(&table, event_age(event));
        text_table_add(&table, text_of(event, "from"));
        text_table_add(&table, text_of(event, "message"));
    }
    text_table_write(&table, "  ", out);
}

/* ---- all of it ---- */

static void write_item(enum kind_id kind, const json_t *item, struct buffer *out)
{
    static const char *const parts[] = {"spec", "status"};
    static const struct {
        const char *title;
        enum kind_id kind;
        bool wide;
    } related[] = {{"Volume", KIND_VOLUMES, false},
                   {"Attachments", KIND_ATTACHMENTS, true},
                   {"Nodes", KIND_NODES, false}};

    CLEANUP(json_decrefp) json_t *facts = facts_by_title(kind, json_object_get(item, "facts"));

    write_head(item, out);
    json_object_del(facts, "Name");
    write_part("summary", facts, out);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        write_part(parts[i], json_object_get(item, parts[i]), out);
    write_conditions(json_object_get(item, "conditions"), out);
    for (size_t i = 0; i < COUNT_OF(related); i++) {
        const json_t *rows = json_object_get(item, kind_of(related[i].kind)->words[0]);

        if (!rows)
            continue;
        buffer_printf(out, "%s:\n", related[i].title);
        facts_table_write(related[i].kind, rows, related[i].wide, "  ", out);
    }
    write_events(json_object_get(item, "events"), out);
}

void describe_text(const json_t *document, struct buffer *out)
{
    const json_t *items = json_object_get(document, "items");
    enum kind_id kind = kind_id(kind_find(text_of(document, "kind")));

    for (size_t i = 0; i < json_array_size(items); i++) {
        if (i)
            buffer_printf(out, "\n\n");
        write_item(kind, json_array_get(items, i), out);
    }
}
