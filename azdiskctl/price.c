#include "azdiskctl/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

/* ---- as what a disk is sold ---- */

static const struct step {
    int64_t gib;
    int number;
} steps[] = {
    {4, 1},    {8, 2},     {16, 3},    {32, 4},    {64, 6},    {128, 10},   {256, 15},
    {512, 20}, {1024, 30}, {2048, 40}, {4096, 50}, {8192, 60}, {16384, 70}, {32767, 80},
};

static const struct {
    const char *kind; /* what its name begins with */
    char letter;
    int64_t least_gib;
} sold_in_steps[] = {{"Premium_", 'P', 4}, {"StandardSSD_", 'E', 4}, {"Standard_", 'S', 32}};

static const struct step *step_of(int64_t gib)
{
    size_t i = 0;

    while (i + 1 < COUNT_OF(steps) && steps[i].gib < gib)
        i++;
    return &steps[i];
}

/* UltraSSD_LRS, alone of those sold by the GiB, has sizes: these steps to 1 TiB, then each TiB. */
static int64_t billed_gib(const char *sku, int64_t gib)
{
    if (strcmp(sku, "UltraSSD_LRS") != 0)
        return gib;
    return gib <= 1024 ? step_of(gib)->gib : (gib + 1023) / 1024 * 1024;
}

/* free() it. */
static char *offer_of(const struct cloud_disk *disk, int64_t *ret_units)
{
    int64_t gib = disk->size_bytes >> 30;

    for (size_t i = 0; i < COUNT_OF(sold_in_steps); i++) {
        size_t length = strlen(sold_in_steps[i].kind);
        int64_t least = sold_in_steps[i].least_gib;

        if (strncmp(disk->sku, sold_in_steps[i].kind, length) != 0)
            continue;
        *ret_units = 1;
        return mem_printf("%c%d_%s", sold_in_steps[i].letter,
                          step_of(gib < least ? least : gib)->number, disk->sku + length);
    }
    *ret_units = billed_gib(disk->sku, gib);
    return mem_strdup(disk->sku);
}

/* ---- prices ---- */

/* The next "name=price" of the list; false if it is not one. */
static bool take_price(char **rest, const char **ret_name, double *ret_price)
{
    char *price = strsep(rest, ","), *end;

    *ret_name = strsep(&price, "=");
    *ret_price = price ? strtod(price, &end) : 0;
    return price && **ret_name && end != price && !*end && isfinite(*ret_price) && *ret_price >= 0;
}

struct err *prices_check(const char *prices)
{
    CLEANUP(freep) char *copy = mem_strdup(prices);
    char *rest = *copy ? copy : NULL;
    const char *name;
    double price;

    while (rest)
        if (!take_price(&rest, &name, &price))
            return err_new(ERR_INVALID,
                           "--prices: \"%s\" is not of the form P10_LRS=19.71,PremiumV2_LRS=0.08",
                           prices);
    return NULL;
}

static bool find_price(const char *prices, const char *offer, double *ret)
{
    CLEANUP(freep) char *copy = mem_strdup(prices);
    char *rest = copy;
    const char *name;

    while (rest)
        if (take_price(&rest, &name, ret) && strcmp(name, offer) == 0)
            return true;
    return false;
}

json_t *price_json(const char *prices, const struct cloud_disk *disk)
{
    int64_t units;
    CLEANUP(freep) char *offer = offer_of(disk, &units);
    json_t *json = json_pack("{s:s, s:I}", "of", offer, "units", (json_int_t)units);
    double price;

    if (find_price(prices, offer, &price))
        json_object_set_new(json, "month", json_real(price * (double)units));
    return json;
}
