#include "provisioner-lib/host/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

enum { FILE_SIZE = 64 * 1024 };

#define MIB (UINT64_C(1024) * 1024)

/* The plug-in has 18 MiB resident when it is idle and 23 MiB when it stages twenty volumes; two
 * mkfs have up to 20 MiB each (ext4 of 32 TiB). */
const uint64_t MEMORY_OF_PLUGIN = 64 * MIB;
/* Version 1 says so of no limit, rounded down to a page. */
static const uint64_t NO_LIMIT = UINT64_C(1) << 60;

/* ---- cgroups ---- */

/* A file that is not there limits nothing: the root has none, and of version 1 a container may see
 * only its own cgroup, as the root. */
static void take_limit(const char *path, uint64_t *io)
{
    CLEANUP(freep) char *text = NULL;
    CLEANUP(err_freep) struct err *err = file_read(path, FILE_SIZE, &text, NULL);
    uint64_t limit;

    if (!err && sscanf(text, "%" SCNu64, &limit) == 1 && limit < *io)
        *io = limit;
}

/* Of a cgroup and of all above it. */
static void take_limits(const char *root, const char *cgroup, const char *file, uint64_t *io)
{
    CLEANUP(freep) char *path = mem_strdup(cgroup);

    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
        *end = '\0';
        CLEANUP(freep) char *name = mem_printf("%s%s/%s", root, path, file);

        take_limit(name, io);
    }
}

/* "0::/path" of version 2, "7:cpu,memory:/path" of version 1. */
static void take_line(const struct memory_roots *roots, char *line, uint64_t *io)
{
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return;
    *controllers++ = '\0';
    *path++ = '\0';
    if (text_list_has(controllers, "memory")) {
        CLEANUP(freep) char *root = mem_printf("%s/memory", roots->cgroup);

        take_limits(root, path, "memory.limit_in_bytes", io);
    } else if (!controllers[0]) {
        take_limits(roots->cgroup, path, "memory.max", io);
    }
}

static struct err *read_container(const struct memory_roots *roots, uint64_t *ret)
{
    CLEANUP(freep) char *path = mem_printf("%s/self/cgroup", roots->proc);
    CLEANUP(freep) char *text = NULL;
    uint64_t limit = NO_LIMIT;
    char *rest;

    TRY(file_read(path, FILE_SIZE, &text, NULL));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        take_line(roots, line, &limit);
    *ret = limit < NO_LIMIT ? limit : 0;
    return NULL;
}

/* ---- the machine ---- */

static struct err *read_available(const struct memory_roots *roots, uint64_t *ret)
{
    CLEANUP(freep) char *path = mem_printf("%s/meminfo", roots->proc);
    CLEANUP(freep) char *text = NULL;
    uint64_t kib;

    TRY(file_read(path, FILE_SIZE, &text, NULL));
    const char *line = strstr(text, "MemAvailable:");
    if (!line || sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
        return err_new(ERR_INTERNAL, "%s has no MemAvailable", path);
    *ret = kib * 1024;
    return NULL;
}

struct err *memory_limit_read(const struct memory_roots *roots, struct memory_limit *ret)
{
    struct memory_limit limit;

    TRY(read_container(roots, &limit.container));
    if (limit.container)
        limit.programs =
            limit.container > MEMORY_OF_PLUGIN ? limit.container - MEMORY_OF_PLUGIN : 0;
    else
        TRY(read_available(roots, &limit.programs));
    *ret = limit;
    return NULL;
}
