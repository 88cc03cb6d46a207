#include "controller/failover/silent_zones.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

enum { LOST_PERCENT = 55, PERCENT = 100 };

struct silent_zone {
    char *name;
    unsigned nodes, silent;
    UT_hash_handle hh;
};

static struct silent_zone *zone_of(struct silent_zones *zones, const char *name)
{
    struct silent_zone *zone;

    HASH_FIND_STR(zones->zones, name, zone);
    if (zone)
        return zone;
    zone = mem_alloc(sizeof *zone);
    zone->name = mem_strdup(name);
    HASH_ADD_KEYPTR(hh, zones->zones, zone->name, strlen(zone->name), zone);
    return zone;
}

void silent_zones_add(struct silent_zones *zones, const char *name, bool silent)
{
    if (!*name) {
        zones->elsewhere += silent;
        return;
    }
    struct silent_zone *zone = zone_of(zones, name);
    zone->nodes++;
    zone->silent += silent;
}

static bool is_lost(const struct silent_zone *zone)
{
    return zone->silent * PERCENT > zone->nodes * LOST_PERCENT;
}

unsigned silent_zones_count(const struct silent_zones *zones)
{
    unsigned all = zones->elsewhere, elsewhere = zones->elsewhere, n = 0, n_lost = 0;

    HASH_FOREACH(zones->zones, zone) {
        n++;
        n_lost += is_lost(zone);
        all += zone->silent;
        elsewhere += is_lost(zone) ? 0 : zone->silent;
    }
    return 2 * n_lost <= n ? elsewhere : all;
}

void silent_zones_fini(struct silent_zones *zones)
{
    HASH_FOREACH(zones->zones, zone) {
        HASH_DEL(zones->zones, zone);
        free(zone->name);
        free(zone);
    }
}
