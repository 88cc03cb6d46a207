#include "azdiskctl/get.h"

#include "azdiskctl/document.h"
#include "azdiskctl/facts.h"
#include "azdiskctl/facts_table.h"
#include "lib/base/alloc.h"

static json_t *item_json(const struct overview *overview, const struct kind *kind,
                         const struct kube_object *object)
{
    return facts_json(overview, kind_id(kind), object);
}

json_t *get_json(const struct cluster *cluster, const struct selection *selection)
{
    return selection_json(selection, cluster, item_json);
}

static void write_table(const json_t *document, bool wide, struct buffer *out)
{
    const struct kind *kind = kind_find(text_of(document, "kind"));

    facts_table_write(kind_id(kind), json_object_get(document, "items"), wide, "", out);
}

void get_table(const json_t *document, struct buffer *out)
{
    write_table(document, false, out);
}

void get_wide(const json_t *document, struct buffer *out)
{
    write_table(document, true, out);
}

void get_names(const json_t *document, struct buffer *out)
{
    const struct kind *kind = kind_find(text_of(document, "kind"));
    const json_t *items = json_object_get(document, "items");
    CLEANUP(freep) char *singular = mem_lower(kind->resource->kind);

    for (size_t i = 0; i < json_array_size(items); i++)
        buffer_printf(out, "%s.%s/%s\n", singular, kind->resource->group,
                      text_of(json_array_get(items, i), "name"));
}
