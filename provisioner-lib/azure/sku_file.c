#include "provisioner-lib/azure/sku_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"

enum { LARGEST_FILE = 1024 * 1024 };

void sku_facts_init(struct sku_facts *facts)
{
    *facts = (struct sku_facts){vm_sizes_new(), disk_kinds_new()};
}

void sku_facts_fini(struct sku_facts *facts)
{
    vm_sizes_free(facts->sizes);
    disk_kinds_free(facts->kinds);
    *facts = (struct sku_facts){0};
}

static struct err *take_file(const json_t *json, const char *location, struct sku_facts *facts,
                             int64_t *ret_at_us)
{
    const char *at = json_string_value(json_object_get(json, "at"));
    const char *whose = json_string_value(json_object_get(json, "location"));
    const json_t *sizes = json_object_get(json, "dataDisks");
    const json_t *kinds = json_object_get(json, "disks");

    if (!at || !whose || !json_is_object(sizes) || !json_is_object(kinds))
        return err_new(ERR_INVALID, "the file is not a list of SKUs");
    if (strcasecmp(whose, location) != 0)
        return err_new(ERR_INVALID, "the file is for location %s, not %s", whose, location);
    TRY(vm_sizes_from_json(facts->sizes, sizes));
    TRY(disk_kinds_from_json(facts->kinds, kinds));
    return timestamp_parse(at, ret_at_us);
}

struct err *sku_file_read(struct task *self, const char *path, const char *location,
                          struct sku_facts *ret, int64_t *ret_at_us)
{
    CLEANUP(sku_facts_fini) struct sku_facts facts;
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = NULL;
    size_t length;

    sku_facts_init(&facts);
    TRY(file_read(path, LARGEST_FILE, &text, &length));
    struct err *err = json_parse(self, text, length, &json);
    if (!err)
        err = take_file(json, location, &facts, ret_at_us);
    if (err)
        return err_wrap(err, "%s", path);
    *ret = facts;
    facts = (struct sku_facts){0};
    return NULL;
}

static struct err *failed(const char *path)
{
    return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
}

struct err *sku_file_write(const char *path, const char *location, const struct sku_facts *facts,
                           int64_t at_us)
{
    char at[TIMESTAMP_SIZE];
    CLEANUP(freep) char *partial = mem_printf("%s.partial", path);

    timestamp_format(at_us, at);
    CLEANUP(json_decrefp)
    json_t *json =
        json_pack("{s:s, s:s, s:o, s:o}", "at", at, "location", location, "dataDisks",
                  vm_sizes_to_json(facts->sizes), "disks", disk_kinds_to_json(facts->kinds));
    if (json_dump_file(json, partial, JSON_INDENT(1)) == 0 && rename(partial, path) == 0)
        return NULL;
    struct err *err = failed(path);
    unlink(partial);
    return err;
}
