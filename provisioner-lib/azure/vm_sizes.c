#include "provisioner-lib/azure/vm_sizes.h"

#include <stdlib.h>
#include <string.h>

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

/* vm_sizes.txt, which says what they mean. */
static const struct series {
    const char *name;
    const char *counts;
} table[] = {
#include "provisioner-lib/azure/vm_sizes.inc"
};

static int compare_series(const void *name, const void *series)
{
    return strcmp(name, ((const struct series *)series)->name);
}

static bool find_count(const char *counts, unsigned long processors, int *ret)
{
    for (const char *at = counts; *at; at += strspn(at, " ")) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        int count = (int)strtoul(end + 1, &end, 10);

        if (number == processors) {
            *ret = count;
            return true;
        }
        at = end;
    }
    return false;
}

bool vm_sizes_built_in(const char *name, int *ret_data_disks)
{
    static const char prefix[] = "standard_", basic[] = "basic_";
    CLEANUP(freep) char *lower = mem_lower(name);
    bool standard = strncmp(lower, prefix, strlen(prefix)) == 0;
    const char *size = standard ? lower + strlen(prefix) : lower;
    size_t letters = strcspn(size, "0123456789");
    char *rest;

    if (!size[letters] || standard == (strncmp(size, basic, strlen(basic)) == 0))
        return false;
    unsigned long processors = strtoul(size + letters, &rest, 10);
    CLEANUP(freep) char *wanted = mem_printf("%.*s*%s", (int)letters, size, rest);
    const struct series *found =
        bsearch(wanted, table, COUNT_OF(table), sizeof table[0], compare_series);
    return found && find_count(found->counts, processors, ret_data_disks);
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
            return err_new(ERR_INVALID, "VM size %s has no valid number of disks", name);
        vm_sizes_set(sizes, name, (int)n);
    }
    return NULL;
}
