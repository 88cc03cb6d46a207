#include "lib/kube/kubeconfig_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/base/string_set.h"
#include "lib/json/yaml.h"
#include "lib/kube/kubeconfig_member.h"

enum {
    LARGEST_FILE = 1024 * 1024,
    MOST_FILES = 64,
    MOST_NAMES = 16,    /* that an error lists */
    LONGEST_NAME = 128, /* the same; those of EKS are 60 to 100 bytes */
    LARGEST_LIST = MOST_NAMES * (LONGEST_NAME + 8) + 64,
};

static const char *const kinds[] = {"cluster", "user", "context"};

void kubeconfig_files_fini(struct kubeconfig_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->items[i].path);
        json_decref(files->items[i].document);
    }
    free(files->items);
    free(files->paths);
    *files = (struct kubeconfig_files){0};
}

static json_t *list_of(const json_t *document, const char *kind)
{
    CLEANUP(freep) char *list = mem_printf("%ss", kind);

    return json_object_get(document, list);
}

/* ---- reading ---- */

static struct err *check_list(const json_t *document, const char *kind)
{
    const json_t *list = list_of(document, kind);

    if (list && !json_is_null(list) && !json_is_array(list))
        return err_new(ERR_INVALID, "%ss is not a list", kind);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name;
        struct err *err = json_is_object(entry) || json_is_null(entry)
                              ? kubeconfig_text(entry, "name", &name)
                              : err_new(ERR_INVALID, "not a map");

        if (err)
            return err_wrap(err, "%ss[%zu]", kind, i);
    }
    return NULL;
}

/* What would be passed over as if it were not there, so that another file's word would count. */
static struct err *check(const json_t *document)
{
    const char *current;

    if (!json_is_null(document) && !json_is_object(document))
        return err_new(ERR_INVALID, "not a map");
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        TRY(check_list(document, kinds[i]));
    return kubeconfig_text(document, "current-context", &current);
}

static struct err *parse(const char *text, size_t length, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *document = NULL;

    TRY(yaml_parse(text, length, &document));
    TRY(check(document));
    *ret = TAKE_PTR(document);
    return NULL;
}

/* A file that does not exist adds nothing. */
static struct err *add_file(struct kubeconfig_files *files, const char *path)
{
    CLEANUP(secret_freep) char *text = NULL;
    json_t *document = NULL;
    size_t length;

    if (files->n == MOST_FILES)
        return err_new(ERR_INVALID, "kubeconfig: more than %d files", MOST_FILES);
    struct err *err = file_read(path, LARGEST_FILE, &text, &length);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    if (err)
        return err_wrap(err, "kubeconfig");
    err = parse(text, length, &document);
    if (err)
        return err_wrap(err, "kubeconfig %s", path);
    ARRAY_ADD(files->items, files->n) = (struct kubeconfig_file){mem_strdup(path), document};
    return NULL;
}

static struct err *add_files(struct kubeconfig_files *files, const char *paths)
{
    CLEANUP(freep) char *copy = mem_strdup(paths);
    char *rest = copy, *path;

    files->paths = mem_strdup(paths);
    while ((path = strsep(&rest, ":")))
        if (*path)
            TRY(add_file(files, path));
    if (files->n > 0)
        return NULL;
    return strchr(paths, ':')
               ? err_new(ERR_NOT_FOUND, "kubeconfig: none of these files exists: \"%s\"", paths)
               : err_new(ERR_NOT_FOUND, "kubeconfig: %s: No such file or directory", paths);
}

struct err *kubeconfig_files_read(const char *paths, struct kubeconfig_files *ret)
{
    CLEANUP(kubeconfig_files_fini) struct kubeconfig_files files = {0};

    TRY(add_files(&files, paths));
    *ret = files;
    files = (struct kubeconfig_files){0};
    return NULL;
}

/* ---- finding ---- */

static const char *name_of(const json_t *entry)
{
    return json_string_value(json_object_get(entry, "name"));
}

/* the contexts are "a", "b" and 3 more; every name once. False if there is none. */
static bool append_names(const struct kubeconfig_files *files, const char *kind,
                         struct buffer *text)
{
    CLEANUP(string_set_clear) struct string_set seen = {0};
    size_t more = 0;

    buffer_printf(text, "the %ss are ", kind);
    for (size_t i = 0; i < files->n; i++) {
        const json_t *list = list_of(files->items[i].document, kind);

        for (size_t j = 0; j < json_array_size(list); j++) {
            const char *name = name_of(json_array_get(list, j));
            size_t n = string_set_count(&seen);

            if (!name || !string_set_add(&seen, name))
                continue;
            if (n < MOST_NAMES)
                buffer_printf(text, "%s\"%.*s\"", n ? ", " : "", LONGEST_NAME, name);
            else
                more++;
        }
    }
    if (more)
        buffer_printf(text, " and %zu more", more);
    return string_set_count(&seen) > 0;
}

static struct err *missing(const struct kubeconfig_files *files, const char *kind, const char *what)
{
    CLEANUP(buffer_fini) struct buffer names = {.limit = LARGEST_LIST};

    if (!append_names(files, kind, &names))
        return err_new(ERR_INVALID, "kubeconfig %s: %s; there are no %ss", files->paths, what,
                       kind);
    return err_new(ERR_INVALID, "kubeconfig %s: %s; %s", files->paths, what, names.data);
}

struct err *kubeconfig_files_current(const struct kubeconfig_files *files, const char **ret)
{
    for (size_t i = 0; i < files->n; i++) {
        const char *name =
            json_string_value(json_object_get(files->items[i].document, "current-context"));

        if (!name || !*name)
            continue;
        *ret = name;
        return NULL;
    }
    return missing(files, "context", "current-context is missing");
}

/* NULL is found where the file has none. */
static struct err *find_in(const struct kubeconfig_file *file, const char *kind, const char *name,
                           const json_t **ret)
{
    const json_t *list = list_of(file->document, kind);

    *ret = NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *entry_name = name_of(entry);

        if (!entry_name || strcmp(entry_name, name) != 0)
            continue;
        if (*ret)
            return err_new(ERR_INVALID, "kubeconfig %s: %ss has two entries named \"%s\"",
                           file->path, kind, name);
        *ret = entry;
    }
    return NULL;
}

struct err *kubeconfig_files_find(const struct kubeconfig_files *files, const char *kind,
                                  const char *name, struct kubeconfig_entry *ret)
{
    for (size_t i = 0; i < files->n; i++) {
        const json_t *entry;

        TRY(find_in(&files->items[i], kind, name, &entry));
        if (!entry)
            continue;
        *ret = (struct kubeconfig_entry){.kind = kind,
                                         .name = name,
                                         .path = files->items[i].path,
                                         .value = json_object_get(entry, kind)};
        return NULL;
    }
    CLEANUP(freep) char *what = mem_printf("%ss has no entry named \"%s\"", kind, name);
    return missing(files, kind, what);
}

struct err *kubeconfig_entry_err(const struct kubeconfig_entry *entry, struct err *err)
{
    return err ? err_wrap(err, "kubeconfig %s: %s \"%s\"", entry->path, entry->kind, entry->name)
               : NULL;
}
