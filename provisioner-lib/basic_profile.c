#include "provisioner-lib/basic_profile.h"

#include <stddef.h>
#include <strings.h>

#include "lib/base/alloc.h"

enum { MOST_REQUEST_KIB = 512 }; /* what the VM's controller takes at once */

/* What a disk can do at its best, with its burst where Azure gives it one without asking. */
struct tier {
    int64_t most_gib;
    uint64_t iops, kb_per_s;
};

static const struct tier premium[] = {
    {512, 3500, 170000},   {1024, 5000, 200000},   {4096, 7500, 250000},
    {8192, 16000, 500000}, {16384, 18000, 750000}, {32767, 20000, 900000},
};

static const struct tier standard_ssd[] = {
    {4096, 500, 60000},
    {8192, 2000, 400000},
    {16384, 4000, 600000},
    {32767, 6000, 750000},
};

static const struct {
    const char *sku;
    const struct tier *tiers;
    size_t n;
} kinds[] = {
    {"Premium_LRS", premium, COUNT_OF(premium)},
    {"Premium_ZRS", premium, COUNT_OF(premium)},
    {"StandardSSD_LRS", standard_ssd, COUNT_OF(standard_ssd)},
    {"StandardSSD_ZRS", standard_ssd, COUNT_OF(standard_ssd)},
};

/* In tenths of a millisecond: of a request somewhere, and of one that follows another. */
static const struct latency {
    int64_t most_gib;
    unsigned random, sequential;
} latencies[] = {{4096, 22, 33}, {8192, 28, 41}, {16384, 34, 46}, {INT64_MAX, 40, 52}};

enum { PER_SECOND = 10000 };

static uint64_t ratio_up(uint64_t dividend, uint64_t divisor)
{
    return (dividend + divisor - 1) / divisor;
}

static const struct latency *latency_of(int64_t most_gib)
{
    size_t i = 0;

    while (most_gib > latencies[i].most_gib)
        i++;
    return &latencies[i];
}

/* A quarter of the operations is left for small requests. */
static struct basic_profile profile_of(const struct tier *tier)
{
    const struct latency *latency = latency_of(tier->most_gib);
    uint64_t kib = ratio_up(tier->kb_per_s * 4, tier->iops * 3);

    if (kib > MOST_REQUEST_KIB)
        kib = MOST_REQUEST_KIB;
    uint64_t sequential = ratio_up(tier->kb_per_s * latency->sequential, kib * PER_SECOND);
    uint64_t random = ratio_up(tier->iops * latency->random, PER_SECOND);
    uint64_t mixed = ratio_up(random, 4) + sequential;

    return (struct basic_profile){.request_kib = (unsigned)kib,
                                  .queue_depth = (unsigned)(mixed > random ? mixed : random)};
}

bool basic_profile_of(const char *sku, int64_t size_gib, struct basic_profile *ret)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < kinds[i].n && strcasecmp(kinds[i].sku, sku) == 0; j++)
            if (size_gib <= kinds[i].tiers[j].most_gib) {
                *ret = profile_of(&kinds[i].tiers[j]);
                return true;
            }
    return false;
}

bool basic_profile_applies(const char *sku)
{
    struct basic_profile any;

    return basic_profile_of(sku, 1, &any);
}
