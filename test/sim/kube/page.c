#include "test/sim/kube/page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "test/sim/kube/api_errors.h"
#include "test/sim/kube/parsed.h"
#include "test/sim/kube/selector.h"

enum { LARGEST_LIST = 64 * 1024 * 1024 };

/* Which state, and which part of it. */
struct page {
    uint64_t revision;
    const char *after; /* the last key of the page before; NULL: the first page */
    size_t limit;      /* 0: none */
};

static struct err *expired(void)
{
    return refuse_because(ERR_OUT_OF_RANGE, "Expired",
                          "the wanted revision is too old and has been compacted");
}

uint64_t page_stale_revision(const struct kube_server *server, const struct collection *collection)
{
    uint64_t now = loop_now(server->loop), lag = server->behaviour.list_lag_ms;
    uint64_t seen = collection_seen(collection, server->revision);

    return lag ? collection_at(collection, now > lag ? now - lag : 0, seen) : seen;
}

bool page_in_namespace(const char *key, const char *namespace_)
{
    size_t length = strlen(namespace_);

    return length == 0 || (strncmp(key, namespace_, length) == 0 && key[length] == '/');
}

/* "revision:key" */
static struct err *read_token(const char *token, const struct collection *collection,
                              struct page *ret)
{
    char *end;

    ret->revision = strtoull(token, &end, 10);
    if (end == token || *end != ':')
        return refuse_request("the continue token is not valid");
    ret->after = end + 1;
    return ret->revision < collection->forgotten ? expired() : NULL;
}

static struct err *read_page(const struct kube_server *server, const struct collection *collection,
                             const struct form *query, struct page *ret)
{
    const char *token = form_get(query, "continue"), *limit = form_get(query, "limit");
    const char *version = form_get(query, "resourceVersion");
    const char *match = form_get(query, "resourceVersionMatch");

    *ret = (struct page){.revision = server->revision};
    ret->limit = limit ? strtoull(limit, NULL, 10) : 0;
    if (token && token[0])
        return version && version[0]
                   ? refuse_request("continue and resourceVersion exclude each other")
                   : read_token(token, collection, ret);
    if (!version || !version[0])
        return NULL;
    if (strcmp(version, "0") == 0) {
        ret->revision = page_stale_revision(server, collection);
        ret->limit = 0; /* what the watch cache gives out, it gives out whole */
        return NULL;
    }
    uint64_t wanted = strtoull(version, NULL, 10);
    if (wanted > server->revision)
        return refuse_because(ERR_TIMEOUT, "Timeout", "Too large resource version");
    if (!match || strcmp(match, "Exact") != 0)
        return NULL;
    ret->revision = wanted;
    return wanted < collection->forgotten ? expired() : NULL;
}

/* The items of a page, as text and as values. */
struct items {
    struct buffer text;
    json_t *values;
};

static void add_item(struct items *items, struct version *version)
{
    bool first = items->text.length == 0;
    size_t length;
    const char *text = version_text(version, &length);

    if ((!first && !buffer_append(&items->text, ",", 1)) ||
        !buffer_append(&items->text, text, length))
        abort();
    json_array_append(items->values, version->json);
}

/* Adds the items of the page; `ret_last` is the last key of it if there are more, else NULL. */
static void add_items(struct items *items, struct version *const *objects, size_t n,
                      const struct page *page, const struct target *target,
                      const struct selector *selector, const char **ret_last)
{
    size_t found = 0;

    *ret_last = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *key = objects[i]->key;

        if (page->after && strcmp(key, page->after) <= 0)
            continue;
        if (!page_in_namespace(key, target->namespace_))
            continue;
        if (page->limit && found == page->limit)
            return;
        if (!selector_matches(selector, objects[i]->json))
            continue;
        add_item(items, objects[i]);
        found++;
        *ret_last = key;
    }
    *ret_last = NULL;
}

/* The list's text up to its items. */
static char *head_of(const struct api_resource *resource, uint64_t revision, const char *last)
{
    CLEANUP(freep)
    char *token =
        last ? mem_printf(",\"continue\":\"%" PRIu64 ":%s\"", revision, last) : mem_strdup("");

    return mem_printf("{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\",\"metadata\":{"
                      "\"resourceVersion\":\"%" PRIu64 "\"%s},\"items\":[",
                      resource->kind, resource->group, resource->group[0] ? "/" : "",
                      resource->version, revision, token);
}

/* Whoever reads the text need not parse all the items. */
static void remember_parsed(const char *head, const struct items *items, const struct buffer *text)
{
    CLEANUP(freep) char *empty = mem_printf("%s]}", head);
    CLEANUP(json_decrefp) json_t *list = NULL;
    struct err *err = json_parse_here(empty, strlen(empty), &list);

    if (err)
        abort();
    json_object_set(list, "items", items->values);
    parsed_remember(text->data, text->length, json_incref(list));
}

struct err *page_read(struct kube_server *server, const struct target *target, char **ret_text,
                      size_t *ret_length)
{
    const struct collection *collection = server_collection(server, target->kind);
    const struct api_resource *resource = target->kind->resource;
    const struct form *query = &target->query;
    CLEANUP(selector_fini) struct selector selector = {0};
    struct items items;
    struct page page;
    struct buffer text;
    const char *last;
    size_t n;

    TRY(selector_read(target->kind, form_get(query, "labelSelector"),
                      form_get(query, "fieldSelector"), &selector));
    TRY(read_page(server, collection, query, &page));
    CLEANUP(freep) struct version **objects = collection_as_of(collection, page.revision, &n);
    items.values = json_array();
    buffer_init(&items.text, LARGEST_LIST);
    add_items(&items, objects, n, &page, target, &selector, &last);

    CLEANUP(freep) char *head = head_of(resource, page.revision, last);
    buffer_init(&text, LARGEST_LIST);
    if (!buffer_append(&text, head, strlen(head)) ||
        !buffer_append(&text, items.text.data, items.text.length) || !buffer_append(&text, "]}", 2))
        abort();
    remember_parsed(head, &items, &text);
    json_decref(items.values);
    buffer_fini(&items.text);
    *ret_length = text.length;
    *ret_text = buffer_take(&text);
    return NULL;
}
