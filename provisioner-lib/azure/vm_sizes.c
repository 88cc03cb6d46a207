#include "provisioner-lib/azure/vm_sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { MOST_DISKS = 64 };

struct size {
    char *name; /* lower case */
    int data_disks;
    UT_hash_handle hh;
};

struct vm_sizes {
    struct size *sizes;
};

struct vm_sizes *vm_sizes_new(void)
{
    return mem_alloc(sizeof(struct vm_sizes));
}

void vm_sizes_free(struct vm_sizes *sizes)
{
    if (!sizes)
        return;
    HASH_FOREACH(sizes->sizes, size) {
        HASH_DEL(sizes->sizes, size);
        free(size->name);
        free(size);
    }
    free(sizes);
}

static struct size *find(const struct vm_sizes *sizes, const char *name)
{
    CLEANUP(freep) char *lower = mem_lower(name);
    struct size *size;

    HASH_FIND_STR(sizes->sizes, lower, size);
    return size;
}

void vm_sizes_set(struct vm_sizes *sizes, const char *name, int data_disks)
{
    struct size *size = find(sizes, name);

    if (!size) {
        size = mem_alloc(sizeof *size);
        size->name = mem_lower(name);
        HASH_ADD_KEYPTR(hh, sizes->sizes, size->name, strlen(size->name), size);
    }
    size->data_disks = data_disks;
}

bool vm_sizes_find(const struct vm_sizes *sizes, const char *name, int *ret_data_disks)
{
    const struct size *size = find(sizes, name);

    if (size)
        *ret_data_disks = size->data_disks;
    return size != NULL;
}

/* ---- built in ---- */

/* Standard_<series><processors><features>_v<version>: the first row that fits counts. */
static const struct {
    const char *series;
    unsigned first_version, last_version;
    unsigned processors; /* at least */
    int data_disks;
} rows[] = {
    {"DE", 6, 99, 32, 64}, {"DE", 6, 99, 16, 48}, {"DE", 6, 99, 8, 24}, {"DE", 6, 99, 4, 12},
    {"DE", 6, 99, 2, 8},   {"DEF", 2, 5, 16, 32}, {"DEF", 2, 5, 8, 16}, {"DEF", 2, 5, 4, 8},
    {"DEF", 2, 5, 2, 4},   {"B", 1, 99, 16, 32},  {"B", 1, 99, 8, 16},  {"B", 1, 99, 4, 8},
    {"B", 1, 99, 2, 4},    {"B", 1, 1, 1, 2},
};

bool vm_sizes_built_in(const char *name, int *ret_data_disks)
{
    static const char prefix[] = "standard_";
    unsigned processors, version = 1;
    const char *series = name + strlen(prefix), *mark;

    if (strncasecmp(name, prefix, strlen(prefix)) != 0 ||
        sscanf(series, "%*[A-Za-z]%u", &processors) != 1)
        return false;
    if ((mark = strcasestr(series, "_v")))
        version = (unsigned)strtoul(mark + 2, NULL, 10);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (!strchr(rows[i].series, *series & ~0x20) || version < rows[i].first_version ||
            version > rows[i].last_version || processors < rows[i].processors)
            continue;
        *ret_data_disks = rows[i].data_disks;
        return true;
    }
    return false;
}

/* ---- as JSON ---- */

json_t *vm_sizes_to_json(const struct vm_sizes *sizes)
{
    json_t *json = json_object();

    HASH_FOREACH(sizes->sizes, size) {
        json_object_set_new(json, size->name, json_integer(size->data_disks));
    }
    return json;
}

struct err *vm_sizes_from_json(struct vm_sizes *sizes, const json_t *json)
{
    const char *name;
    json_t *number;

    json_object_foreach((json_t *)(uintptr_t)json, name, number) {
        json_int_t n = json_integer_value(number);

        if (!json_is_integer(number) || n < 0 || n > MOST_DISKS)
            return err_new(ERR_INVALID, "size %s has no number of disks", name);
        vm_sizes_set(sizes, name, (int)n);
    }
    return NULL;
}
