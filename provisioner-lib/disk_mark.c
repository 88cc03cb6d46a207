#include "provisioner-lib/disk_mark.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

#define CREATED_BY "kubernetes-azure-dd"

/* What is not known is not the same as anything. */
static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

void disk_mark_write(const struct disk_creator *creator, struct parameter ret[DISK_MARK_TAGS])
{
    ret[0] = (struct parameter){TAG_CREATED_BY, CREATED_BY};
    ret[1] = (struct parameter){TAG_CREATED_BY_DRIVER, creator->driver};
    ret[2] = (struct parameter){TAG_CREATED_BY_CLUSTER, creator->cluster};
}

void disk_mark_read(struct disk_mark *mark, const char *tag, const char *value)
{
    if (strcasecmp(tag, TAG_CREATED_BY) == 0)
        mark->is_there = is_same(value, CREATED_BY);
    else if (strcasecmp(tag, TAG_CREATED_BY_DRIVER) == 0)
        mark->driver = value ? value : "";
    else if (strcasecmp(tag, TAG_CREATED_BY_CLUSTER) == 0)
        mark->cluster = value ? value : "";
    else if (strcasecmp(tag, TAG_PV_NAME) == 0)
        mark->pv = value ? value : "";
}

struct disk_mark disk_mark_of_tags(const struct parameter *tags, size_t n)
{
    struct disk_mark mark = {0};

    for (size_t i = 0; i < n; i++)
        disk_mark_read(&mark, tags[i].name, tags[i].value);
    return mark;
}

struct disk_mark disk_mark_copy(const struct disk_mark *mark)
{
    return (struct disk_mark){
        .is_there = mark->is_there,
        .driver = mem_strdup(mark->driver),
        .cluster = mem_strdup(mark->cluster),
        .pv = mem_strdup(mark->pv),
    };
}

void disk_mark_fini(struct disk_mark *mark)
{
    free((char *)(uintptr_t)mark->driver);
    free((char *)(uintptr_t)mark->cluster);
    free((char *)(uintptr_t)mark->pv);
    *mark = (struct disk_mark){0};
}

bool disk_mark_has_tag(const char *tag)
{
    static const char *const tags[] = {
        TAG_CREATED_BY,   TAG_CREATED_BY_DRIVER, TAG_CREATED_BY_CLUSTER, TAG_PV_NAME,
        TAG_PVC_NAME,     TAG_PVC_NAMESPACE,     TAG_SNAPSHOT_NAME,      TAG_SNAPSHOT_NAMESPACE,
        TAG_COPY_OF_DISK, TAG_COPY_TAKEN_AT};

    for (size_t i = 0; i < COUNT_OF(tags); i++)
        if (strcasecmp(tag, tags[i]) == 0)
            return true;
    return false;
}

enum disk_origin disk_origin_of(const struct disk_mark *mark, const struct disk_creator *creator)
{
    if (!mark->is_there)
        return DISK_UNMARKED;
    if (!mark->driver && !mark->cluster)
        return DISK_OF_OLDER_DRIVER;
    if (!is_same(mark->driver, creator->driver) || !is_same(mark->cluster, creator->cluster))
        return DISK_OF_OTHERS;
    return DISK_OWN;
}

/* Whether it ends in one: "pvc-" and the UID is what csi-provisioner calls a volume. */
static bool has_uid(const char *name)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t length = strlen(name), n = strlen(form);

    if (length < n)
        return false;
    name += length - n;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)name[i]) : name[i] != form[i])
            return false;
    return true;
}

bool disk_is_for_volume(const struct disk_mark *mark, const struct disk_creator *creator,
                        const char *volume_name, const char *pv)
{
    enum disk_origin origin = disk_origin_of(mark, creator);

    if (pv && !is_same(mark->pv, pv))
        return false;
    return origin == DISK_OWN || (origin == DISK_OF_OLDER_DRIVER && has_uid(volume_name));
}

char *disk_origin_text(const struct disk_mark *mark, const struct disk_creator *creator)
{
    switch (disk_origin_of(mark, creator)) {
    case DISK_UNMARKED:
        return mem_strdup("this driver did not create it");
    case DISK_OF_OLDER_DRIVER:
        return mem_strdup("an earlier version of the driver created it, in this cluster or in "
                          "another one");
    case DISK_OWN:
        return mem_strdup("this driver created it");
    case DISK_OF_OTHERS:
        break;
    }
    return is_same(mark->cluster, creator->cluster)
               ? mem_printf("driver %s of this cluster created it",
                            mark->driver ? mark->driver : "(unnamed)")
               : mem_printf("driver %s of another cluster created it (the UID of that cluster's "
                            "namespace kube-system is %s)",
                            mark->driver ? mark->driver : "(unnamed)",
                            mark->cluster ? mark->cluster : "not in its tags");
}
