#include "provisioner-lib/azure/vm_sizes.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/hash.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"

enum { LARGEST_FILE = 1024 * 1024, MOST_DISKS = 64 };

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

/* ---- the file ---- */

static struct err *take_file(const json_t *json, const char *location, struct vm_sizes *sizes,
                             int64_t *ret_at_us)
{
    const char *at = json_string_value(json_object_get(json, "at"));
    const char *whose = json_string_value(json_object_get(json, "location"));
    json_t *list = json_object_get(json, "dataDisks"), *number;
    const char *name;

    if (!at || !whose || !json_is_object(list))
        return err_new(ERR_INVALID, "it is no list of VM sizes");
    if (strcasecmp(whose, location) != 0)
        return err_new(ERR_INVALID, "it is about %s, not %s", whose, location);
    json_object_foreach(list, name, number) {
        json_int_t n = json_integer_value(number);

        if (!json_is_integer(number) || n < 0 || n > MOST_DISKS)
            return err_new(ERR_INVALID, "size %s has no number of disks", name);
        vm_sizes_set(sizes, name, (int)n);
    }
    return timestamp_parse(at, ret_at_us);
}

struct err *vm_sizes_read(struct task *self, const char *path, const char *location,
                          struct vm_sizes **ret_sizes, int64_t *ret_at_us)
{
    CLEANUP(vm_sizes_freep) struct vm_sizes *sizes = vm_sizes_new();
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = NULL;
    size_t length;

    TRY(file_read(path, LARGEST_FILE, &text, &length));
    struct err *err = json_parse(self, text, length, &json);
    if (!err)
        err = take_file(json, location, sizes, ret_at_us);
    if (err)
        return err_wrap(err, "%s", path);
    *ret_sizes = TAKE_PTR(sizes);
    return NULL;
}

static struct err *failed(const char *path)
{
    return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
}

struct err *vm_sizes_write(const char *path, const char *location, const struct vm_sizes *sizes,
                           int64_t at_us)
{
    char at[TIMESTAMP_SIZE];
    json_t *list = json_object();
    CLEANUP(freep) char *partial = mem_printf("%s.partial", path);

    timestamp_format(at_us, at);
    HASH_FOREACH(sizes->sizes, size) {
        json_object_set_new(list, size->name, json_integer(size->data_disks));
    }
    CLEANUP(json_decrefp)
    json_t *json = json_pack("{s:s, s:s, s:o}", "at", at, "location", location, "dataDisks", list);
    if (json_dump_file(json, partial, JSON_INDENT(1)) == 0 && rename(partial, path) == 0)
        return NULL;
    struct err *err = failed(path);
    unlink(partial);
    return err;
}
