#include "test/sim/kube/target.h"

#include <string.h>

enum { MOST_SEGMENTS = 9 };

static const char *path_of(const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme ? scheme + 3 : url;

    return host + strcspn(host, "/?");
}

/* Cuts the text at its slashes, in place. 0 if there are too many. */
static size_t split(char *text, const char *segments[MOST_SEGMENTS])
{
    size_t n = 0;

    for (char *segment; (segment = strsep(&text, "/"));) {
        if (n == MOST_SEGMENTS)
            return 0;
        percent_decode(segment);
        segments[n++] = segment;
    }
    return n;
}

/* [namespaces/NAMESPACE/]PLURAL[/NAME[/SUBRESOURCE]] */
static bool read_resource(const char *group, const char *version, const char **segments, size_t n,
                          struct target *ret)
{
    ret->is_builtin = !group[0] || strstr(group, ".k8s.io");
    bool has_namespace = n > 2 && strcmp(segments[0], "namespaces") == 0 &&
                         (n > 3 || strcmp(segments[2], "status") != 0);

    if (has_namespace) {
        ret->namespace_ = segments[1];
        segments += 2;
        n -= 2;
    }
    if (n < 1 || n > 3)
        return false;
    ret->kind = kind_find(group, version, segments[0]);
    ret->name = n > 1 ? segments[1] : "";
    ret->subresource = n > 2 ? segments[2] : "";
    if (!ret->kind || (has_namespace && !ret->kind->resource->namespaced))
        return false;
    if (ret->subresource[0] && (!ret->kind->has_status || strcmp(ret->subresource, "status") != 0))
        return false;
    return has_namespace || !ret->name[0] || !ret->kind->resource->namespaced;
}

bool target_read(const char *url, struct target *ret)
{
    const char *path = path_of(url);
    size_t length = strcspn(path, "?");
    const char *segments[MOST_SEGMENTS];

    ret->kind = NULL;
    ret->is_builtin = false;
    ret->namespace_ = ret->name = ret->subresource = "";
    ret->query = (struct form){0};
    if (path[length])
        form_read(&ret->query, path + length + 1);
    if (length < 1 || length >= sizeof ret->path)
        return false;
    memcpy(ret->path, path + 1, length - 1);
    ret->path[length - 1] = '\0';

    size_t n = split(ret->path, segments);
    if (n > 2 && strcmp(segments[0], "api") == 0)
        return read_resource("", segments[1], segments + 2, n - 2, ret);
    if (n > 3 && strcmp(segments[0], "apis") == 0)
        return read_resource(segments[1], segments[2], segments + 3, n - 3, ret);
    return false;
}

void target_fini(struct target *target)
{
    form_fini(&target->query);
}

const char *target_verb(const struct target *target, const char *method)
{
    static const struct {
        const char *method;
        bool has_name;
        const char *verb;
    } verbs[] = {
        {"PATCH", true, "patch"},  {"GET", true, "get"},       {"GET", false, "list"},
        {"POST", false, "create"}, {"DELETE", true, "delete"}, {"PUT", true, "update"},
    };
    const char *watch = form_get(&target->query, "watch");
    bool has_name = target->name[0];

    if (watch && (strcmp(watch, "true") == 0 || strcmp(watch, "1") == 0))
        return strcmp(method, "GET") == 0 && !has_name ? "watch" : NULL;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        bool suits = verbs[i].has_name == has_name && strcmp(verbs[i].method, method) == 0;

        if (suits && strcmp(verbs[i].verb, "create") == 0)
            suits = !target->kind->resource->namespaced || target->namespace_[0];
        if (suits && target->subresource[0])
            suits = strcmp(verbs[i].verb, "create") != 0 && strcmp(verbs[i].verb, "delete") != 0;
        if (suits)
            return verbs[i].verb;
    }
    return NULL;
}
