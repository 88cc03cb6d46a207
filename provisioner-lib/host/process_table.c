#include "provisioner-lib/host/process_table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"

enum { NAME_SIZE = 64, KERNEL_NAME = 15 }; /* characters that the kernel keeps of a name */

static void close_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

/* A process may be gone by now. */
static bool has_name(const char *proc, const char *process, const char *program)
{
    CLEANUP(freep) char *path = mem_printf("%s/%s/comm", proc, process);
    CLEANUP(freep) char *name = NULL;
    CLEANUP(err_freep) struct err *err = file_read(path, NAME_SIZE, &name, NULL);

    if (err)
        return false;
    name[strcspn(name, "\n")] = '\0';
    return strncmp(name, program, KERNEL_NAME) == 0;
}

struct err *process_table_check_none(const char *proc, const char *program)
{
    CLEANUP(close_folder) DIR *folder = opendir(proc);
    const struct dirent *entry;

    if (!folder)
        return err_new(ERR_INTERNAL, "%s: %s", proc, strerror(errno));
    while ((entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]) && has_name(proc, entry->d_name, program))
            return err_new(ERR_BUSY, "%s still runs as process %s", program, entry->d_name);
    return NULL;
}
