/* What a StorageClass says once for all of its claims: tags, and the name of the disk, with
 * templates that stand for the claim. They are read last, because they need other parameters. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "provisioner-lib/parameters_template.h"
#include "provisioner-lib/tag_list.h"

enum {
    DISK_NAME_MAX_OF_AZURE = 80,
    MOST_EXPANDED = 4096, /* bytes of one value; more than any limit of characters needs */
};

static const struct {
    const char *text, *source; /* the parameter that csi-provisioner sets */
    size_t offset;
} templates[] = {
    {"${pvc.metadata.name}", "csi.storage.k8s.io/pvc/name",
     offsetof(struct volume_parameters, pvc_name)},
    {"${pvc.metadata.namespace}", "csi.storage.k8s.io/pvc/namespace",
     offsetof(struct volume_parameters, pvc_namespace)},
    {"${pv.metadata.name}", "csi.storage.k8s.io/pv/name",
     offsetof(struct volume_parameters, pv_name)},
};

static struct err *append(struct buffer *ret, const char *text, size_t length)
{
    return buffer_append(ret, text, length)
               ? NULL
               : err_new(ERR_INVALID, "with its templates replaced, it has more than %d bytes",
                         MOST_EXPANDED);
}

/* `io` begins with a template, and is moved behind it. */
static struct err *expand_one(const struct volume_parameters *p, const char **io,
                              struct buffer *ret)
{
    for (size_t i = 0; i < COUNT_OF(templates); i++) {
        size_t length = strlen(templates[i].text);

        if (strncmp(*io, templates[i].text, length) != 0)
            continue;
        const char *value = *(char *const *)(const void *)((const char *)p + templates[i].offset);
        if (!value)
            return err_new(ERR_INVALID,
                           "template %s needs %s, which csi-provisioner sets if it runs with "
                           "--extra-create-metadata",
                           templates[i].text, templates[i].source);
        *io += length;
        return append(ret, value, strlen(value));
    }
    return err_new(ERR_INVALID,
                   "\"%s\" does not begin with a known template: ${pvc.metadata.name}, "
                   "${pvc.metadata.namespace} and ${pv.metadata.name} are known",
                   *io);
}

/* What a template stands for is not read again, so that a claim's name cannot be one. */
static struct err *expand(const struct volume_parameters *p, const char *text, char **ret)
{
    CLEANUP(buffer_fini) struct buffer expanded;

    buffer_init(&expanded, MOST_EXPANDED);
    while (*text) {
        if (strncmp(text, "${", 2) == 0)
            TRY(expand_one(p, &text, &expanded));
        else
            TRY(append(&expanded, text++, 1));
    }
    *ret = buffer_take(&expanded);
    return NULL;
}

/* ---- tags ---- */

static struct err *expand_value(const void *ctx, const char *text, char **ret)
{
    return expand(ctx, text, ret);
}

/* ---- diskName ---- */

/* Not shortened, and nothing in it replaced: two claims would get the same name, or one claim
 * another name when it is asked for again. */
static struct err *check_disk_name(const char *name)
{
    size_t length = strlen(name);
    bool good = isalnum((unsigned char)name[0]) &&
                (isalnum((unsigned char)name[length - 1]) || name[length - 1] == '_');

    for (size_t i = 0; i < length; i++)
        good =
            good && isascii(name[i]) && (isalnum((unsigned char)name[i]) || strchr("._-", name[i]));
    if (!good)
        return err_new(ERR_INVALID,
                       "\"%s\" is not the name of a disk: only letters, digits, _, . and - are "
                       "allowed, first a letter or digit, and last a letter, digit or _",
                       name);
    if (length > DISK_NAME_MAX_OF_AZURE)
        return err_new(ERR_INVALID, "\"%s\" has %zu characters; a disk's name has at most %d", name,
                       length, DISK_NAME_MAX_OF_AZURE);
    return NULL;
}

static struct err *read_disk_name(struct volume_parameters *p)
{
    CLEANUP(freep) char *name = NULL;

    /* The name of the PersistentVolume is what tells the volumes of one disk name apart. */
    if (!p->pv_name)
        return err_new(ERR_INVALID, "csi.storage.k8s.io/pv/name is missing, which csi-provisioner "
                                    "sets if it runs with --extra-create-metadata");
    TRY(expand(p, p->disk_name, &name));
    TRY(check_disk_name(name));
    free(p->disk_name);
    p->disk_name = TAKE_PTR(name);
    return NULL;
}

struct err *volume_parameters_expand(struct volume_parameters *p)
{
    struct err *err = p->disk_name ? read_disk_name(p) : NULL;

    if (err)
        return err_wrap(err, "parameter diskName");
    if (!p->tags_text)
        return NULL;
    err = tag_list_parse(p->tags_text, p->tag_delimiter, expand_value, p, &p->tags, &p->n_tags);
    return err ? err_wrap(err, "parameter tags") : NULL;
}
