/* The vendor's part of Identify Namespace, which need not have a NUL at its end. */
#include "provisioner-lib/host/nvme_namespace.h"

#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *exact = mem_copy(data, size); /* so that it is seen who reads beyond it */
    struct nvme_namespace found;

    nvme_namespace_parse(exact, (unsigned)size, &found);
    MUST(found.lun >= NVME_NO_LUN && strlen(found.name) < sizeof found.name);
    MUST(!strchr(found.name, ','));
    return 0;
}
