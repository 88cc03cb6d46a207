#include "provisioner-lib/host/sysfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"

enum { ATTRIBUTE_SIZE = 4096 };

char *sysfs_folder(const struct device_roots *roots, dev_t device)
{
    CLEANUP(freep)
    char *link = mem_printf("%s/dev/block/%u:%u", roots->sys, major(device), minor(device));

    return realpath(link, NULL);
}

char *sysfs_read(const char *folder, const char *name)
{
    CLEANUP(freep) char *path = mem_printf("%s/%s", folder, name);
    char *text = NULL;
    size_t length;
    CLEANUP(err_freep) struct err *err = file_read(path, ATTRIBUTE_SIZE, &text, &length);

    if (err)
        return NULL;
    while (length > 0 && strchr(" \n", text[length - 1]))
        text[--length] = '\0';
    return text;
}
