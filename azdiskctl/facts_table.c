#include "azdiskctl/facts_table.h"

#include <ctype.h>

#include <jansson.h>

#include "azdiskctl/age.h"
#include "azdiskctl/document.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"

/* ---- what a cell says; NULL: it is not known ---- */

static char *say_text(const json_t *row, const char *member)
{
    return mem_strdup(text_of(row, member));
}

static char *say_number(const json_t *row, const char *member)
{
    const json_t *number = json_object_get(row, member);

    return number ? mem_printf("%lld", (long long)json_integer_value(number)) : NULL;
}

static char *say_truth(const json_t *row, const char *member)
{
    return mem_strdup(json_is_true(json_object_get(row, member)) ? "yes" : "no");
}

static char *say_size(const json_t *row, const char *member)
{
    const json_t *size = json_object_get(row, member);

    return size ? size_text(json_integer_value(size)) : NULL;
}

static char *say_age(const json_t *row, const char *member)
{
    const json_t *seconds = json_object_get(row, member);

    return seconds ? age_text(json_integer_value(seconds)) : NULL;
}

/* "1/2"; the second number is that of the member. */
static char *say_part(const json_t *row, const char *part_name, const char *member)
{
    CLEANUP(freep) char *part = say_number(row, part_name), *all = say_number(row, member);

    return part || all ? mem_printf("%s/%s", part ? part : "?", all ? all : "?") : NULL;
}

static char *say_replicas(const json_t *row, const char *member)
{
    return say_part(row, "readyReplicas", member);
}

static char *say_places(const json_t *row, const char *member)
{
    return say_part(row, "used", member);
}

/* "Created,40%" while data is copied to its disk. */
static char *say_volume_state(const json_t *row, const char *member)
{
    int percent = (int)json_integer_value(json_object_get(row, "percent"));

    return percent < 100 ? mem_printf("%s,%d%%", text_of(row, member), percent)
                         : say_text(row, member);
}

/* ---- the columns ---- */

struct column {
    const char *title; /* in capitals at the head of a table; NULL at the end */
    char *(*say)(const json_t *row, const char *member);
    const char *member;
    bool wide;
};

static const struct column of_volumes[] = {
    {"Name", say_text, "name", false},
    {"Claim", say_text, "claim", false},
    {"Size", say_size, "sizeBytes", false},
    {"Primary", say_text, "primaryNode", false},
    {"Replicas", say_replicas, "replicas", false},
    {"State", say_volume_state, "state", false},
    {"Age", say_age, "ageSeconds", false},
    {"Zone", say_text, "zone", true},
    {"SKU", say_text, "sku", true},
    {"Shares", say_number, "maxShares", true},
    {"PV", say_text, "persistentVolume", true},
    {"Disk", say_text, "disk", true},
    {0},
};

static const struct column of_attachments[] = {
    {"Volume", say_text, "volume", false},
    {"Node", say_text, "node", false},
    {"Role", say_text, "role", false},
    {"State", say_text, "state", false},
    {"LUN", say_number, "lun", false},
    {"Ready", say_truth, "ready", false},
    {"Fence", say_text, "fence", false},
    {"Age", say_age, "ageSeconds", false},
    {"Name", say_text, "name", true},
    {"Not Ready Because", say_text, "notReady", true},
    {0},
};

static const struct column of_nodes[] = {
    {"Name", say_text, "name", false},
    {"Disks", say_places, "places", false},
    {"Primaries", say_number, "primaries", false},
    {"Replicas", say_number, "replicas", false},
    {"Heartbeat", say_age, "heartbeatSeconds", false},
    {"State", say_text, "state", false},
    {"Age", say_age, "ageSeconds", true},
    {"Zone", say_text, "zone", true},
    {"Message", say_text, "message", true},
    {0},
};

_Static_assert(COUNT_OF(of_volumes) - 1 <= TABLE_COLUMNS &&
                   COUNT_OF(of_attachments) - 1 <= TABLE_COLUMNS &&
                   COUNT_OF(of_nodes) - 1 <= TABLE_COLUMNS,
               "a table has no more columns");

static const struct column *const columns_of[KINDS] = {
    [KIND_VOLUMES] = of_volumes,
    [KIND_ATTACHMENTS] = of_attachments,
    [KIND_REPLICAS] = of_attachments,
    [KIND_NODES] = of_nodes,
};

static char *in_capitals(const char *text)
{
    char *upper = mem_strdup(text);

    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return upper;
}

static void add_row(struct text_table *table, const struct column *columns, const json_t *row,
                    bool wide)
{
    for (const struct column *column = columns; column->title; column++) {
        if (column->wide && !wide)
            continue;
        CLEANUP(freep) char *text = column->say(row, column->member);
        text_table_add(table, text);
    }
}

void facts_table_write(enum kind_id kind, const json_t *rows, bool wide, const char *indent,
                       struct buffer *out)
{
    struct text_table table = {0};

    for (const struct column *column = columns_of[kind]; column->title; column++)
        if (wide || !column->wide) {
            CLEANUP(freep) char *title = in_capitals(column->title);
            text_table_add(&table, title);
            table.columns++;
        }
    for (size_t i = 0; i < json_array_size(rows); i++)
        add_row(&table, columns_of[kind], json_array_get(rows, i), wide);
    text_table_write(&table, indent, out);
}

json_t *facts_by_title(enum kind_id kind, const json_t *row)
{
    json_t *facts = json_object();

    for (const struct column *column = columns_of[kind]; column->title; column++) {
        CLEANUP(freep) char *text = column->say(row, column->member);

        if (text)
            json_object_set_new(facts, column->title, json_string(text));
    }
    return facts;
}
