/* The file in which Azure's SKU list is kept. */
#include "lib/rt/loop.h"
#include "provisioner-lib/azure/sku_file.h"
#include "test/fuzz/answers.h"
#include "test/fuzz/file.h"

/* What was taken is written so that it reads again. */
static void check(const struct sku_facts *facts)
{
    static const int64_t sizes[] = {1, 4096, 65536};
    CLEANUP(sku_facts_fini) struct sku_facts again;
    CLEANUP(json_decrefp) json_t *kinds = disk_kinds_to_json(facts->kinds);
    CLEANUP(json_decrefp) json_t *vms = vm_sizes_to_json(facts->sizes);
    const char *name;
    json_t *rows;

    sku_facts_init(&again);
    MUST(kinds && input_taken(disk_kinds_from_json(again.kinds, kinds)));
    MUST(vms && input_taken(vm_sizes_from_json(again.sizes, vms)));
    json_object_foreach(kinds, name, rows) {
        for (size_t i = 0; i < COUNT_OF(sizes) && json_array_size(rows); i++) {
            struct disk_limits limits;

            MUST(disk_kinds_find(facts->kinds, name, sizes[i], &limits));
            MUST(limits.least_gib <= limits.most_gib);
        }
    }
}

static void read_file(struct task *self, void *path)
{
    CLEANUP(sku_facts_fini) struct sku_facts facts = {0};
    int64_t at_us;

    if (input_taken(sku_file_read(self, path, "l", &facts, &at_us)))
        check(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[INPUT_PATH_SIZE];
    int fd = input_file(data, size, path);
    struct loop *loop = loop_new_virtual(1);

    MUST(task_returns(loop, read_file, path, 1000));
    loop_free(loop);
    close(fd);
    return 0;
}
