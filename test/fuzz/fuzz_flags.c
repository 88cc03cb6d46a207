/* What a person types behind azdiskctl: an argument a line. The last one is also a list of prices,
 * and an argument of the controller's in its Deployment. */
#include "azdiskctl/flags.h"
#include "azdiskctl/heartbeat_limit.h"
#include "azdiskctl/price.h"
#include "test/fuzz/input.h"

enum { MOST = 32, LONGEST = 4096 };

static int split(char *text, char *arguments[MOST])
{
    static char program[] = "azdiskctl";
    char *line;
    int n = 0;

    arguments[n++] = program;
    while (n < MOST - 1 && (line = strsep(&text, "\n")))
        arguments[n++] = line;
    arguments[n] = NULL;
    return n;
}

/* What is wrong is said at length. */
static void be_quiet(void)
{
    static bool quiet;

    if (!quiet)
        MUST((stdout = fopen("/dev/null", "w")) && (stderr = fopen("/dev/null", "w")));
    quiet = true;
}

static void check_prices(const char *prices)
{
    char sku[] = "Premium_LRS";
    const struct cloud_disk disk = {.sku = sku, .size_bytes = INT64_C(100) << 30};

    if (!input_taken(prices_check(prices)))
        return;
    CLEANUP(json_decrefp) json_t *price = price_json(prices, &disk);
    MUST(json_is_string(json_object_get(price, "of")));
}

static void check_limit(const char *argument)
{
    CLEANUP(json_decrefp)
    json_t *list =
        json_pack("{s:[{s:{s:{s:{s:[{s:[s], s:[s]}]}}}}]}", "items", "spec", "template", "spec",
                  "containers", "command", "/azdisk-controller", "args", argument);

    if (list)
        (void)heartbeat_limit_of(list, "disk.csi.azure.com");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[LONGEST + 1]; /* the flags of a process point to its arguments for ever */
    char *arguments[MOST];
    struct flags flags;
    int status = -1;

    size = size < LONGEST ? size : LONGEST;
    memset(text, 0, sizeof text);
    memcpy(text, data, size);
    int n = split(text, arguments);
    be_quiet();
    if (flags_parse(n, arguments, "", &flags, &status))
        MUST(flags.output >= 0 && flags.output < OUTPUTS);
    else
        MUST(status == 0 || status == 2);
    check_prices(arguments[n - 1]);
    check_limit(arguments[n - 1]);
    return 0;
}
