/* The kernel's files about memory: /proc/self/cgroup, memory.max, memory.limit_in_bytes and
 * meminfo, separated by lines with a dash. */
#include <sys/stat.h>

#include "provisioner-lib/host/memory_limit.h"
#include "test/fuzz/file.h"

static char folder[] = "/dev/shm/fuzz-cgroup-XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = {
        "self/cgroup", "self", "meminfo", "memory.max", "memory/memory.limit_in_bytes",
        "memory",      ""};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", folder, names[i]);

        remove(path);
    }
}

static void make_folder(void)
{
    static const char *const below[] = {"self", "memory"};
    static bool made;

    if (made)
        return;
    MUST(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(below); i++) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", folder, below[i]);

        MUST(mkdir(path, 0700) == 0);
    }
    atexit(remove_folder);
    made = true;
}

static void write_text(const char *name, const char *text)
{
    CLEANUP(freep) char *path = mem_printf("%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    MUST(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"self/cgroup", "memory.max", "memory/memory.limit_in_bytes",
                                        "meminfo"};
    CLEANUP(freep) char *text = input_text(data, size);
    char *rest = text;
    struct memory_limit limit;

    make_folder();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char *content = rest, *end = rest ? strstr(rest, "\n-\n") : NULL;

        if (end)
            *end = '\0';
        rest = end ? end + 3 : NULL;
        write_text(names[i], content ? content : "");
    }
    if (input_taken(memory_limit_read(&(struct memory_roots){folder, folder}, &limit)))
        MUST(!limit.container || limit.programs < limit.container);
    return 0;
}
