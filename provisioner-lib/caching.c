#include "provisioner-lib/caching.h"

#include <string.h>
#include <strings.h>

enum { LARGEST_CACHED_GIB = 4095 };

const char *caching_mode_name(enum caching_mode caching)
{
    static const char *const names[] = {[CACHING_NONE] = "None",
                                        [CACHING_READ_ONLY] = "ReadOnly",
                                        [CACHING_READ_WRITE] = "ReadWrite"};

    return names[caching];
}

static bool begins(const char *text, const char *beginning)
{
    return text && strncasecmp(text, beginning, strlen(beginning)) == 0;
}

const char *caching_obstacle(const struct caching_disk *disk)
{
    if (disk->max_shares > 1)
        return "a disk with maxShares above 1";
    if (begins(disk->sku, "UltraSSD_") || begins(disk->sku, "PremiumV2_"))
        return disk->sku;
    return disk->size_gib > LARGEST_CACHED_GIB ? "a disk of 4 TiB or more" : NULL;
}

const char *write_accelerator_obstacle(enum caching_mode asked, const struct caching_disk *disk)
{
    if (disk->max_shares > 1)
        return "a disk with maxShares above 1";
    if (disk->sku && strcasecmp(disk->sku, "Premium_LRS") != 0)
        return disk->sku;
    return asked == CACHING_READ_WRITE ? "cachingMode ReadWrite" : NULL;
}

enum caching_mode caching_of(enum caching_mode asked, const struct caching_disk *disk)
{
    if (caching_obstacle(disk))
        return CACHING_NONE;
    return asked == CACHING_DEFAULT ? CACHING_READ_ONLY : asked;
}
