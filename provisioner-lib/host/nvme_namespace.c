#include "provisioner-lib/host/nvme_namespace.h"

#include <linux/nvme_ioctl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

/* NVM Express Base Specification 2.0, figures 273 and 280. */
enum {
    IDENTIFY = 0x06,
    OF_A_NAMESPACE = 0x00,
    PAGE_SIZE = 4096,
    VENDORS_PART = 384,
    TIMEOUT_MS = 10 * 1000,
    MOST_LUNS = 256,
};

/* ---- what it says ---- */

static void note_lun(const char *value, struct nvme_namespace *ret)
{
    char *end;
    unsigned long lun = strtoul(value, &end, 10);

    if (ret->lun == NVME_NO_LUN && *value >= '0' && *value <= '9' && !*end && lun < MOST_LUNS)
        ret->lun = (int)lun;
}

static void note_name(const char *value, struct nvme_namespace *ret)
{
    if (!ret->name[0] && strlen(value) < sizeof ret->name)
        memcpy(ret->name, value, strlen(value) + 1);
}

void nvme_namespace_parse(const char *text, unsigned size, struct nvme_namespace *ret)
{
    CLEANUP(freep) char *copy = mem_strndup(text, size);
    char *rest = NULL;

    *ret = NVME_SAYS_NOTHING;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value++ = '\0';
        if (strcmp(word, "type") == 0)
            ret->not_data |= strcmp(value, "data") != 0;
        else if (strcmp(word, "lun") == 0)
            note_lun(value, ret);
        else if (strcmp(word, "name") == 0)
            note_name(value, ret);
    }
}

/* ---- asking ---- */

void nvme_namespace_read(int fd, struct nvme_namespace *ret)
{
    int number = ioctl(fd, NVME_IOCTL_ID);

    *ret = NVME_SAYS_NOTHING;
    if (number <= 0)
        return;
    CLEANUP(freep) char *page = mem_alloc(PAGE_SIZE);
    struct nvme_admin_cmd command = {.opcode = IDENTIFY,
                                     .nsid = (uint32_t)number,
                                     .addr = (uintptr_t)page,
                                     .data_len = PAGE_SIZE,
                                     .cdw10 = OF_A_NAMESPACE,
                                     .timeout_ms = TIMEOUT_MS};

    if (ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command) == 0)
        nvme_namespace_parse(page + VENDORS_PART, PAGE_SIZE - VENDORS_PART, ret);
}
