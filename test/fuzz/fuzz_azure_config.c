/* azure.json, in JSON or YAML. */
#include "provisioner-lib/azure/config.h"
#include "test/fuzz/input.h"

static void check_url(const char *url)
{
    MUST(strncmp(url, "https://", 8) == 0 && url[8]);
    MUST(url[strlen(url) - 1] != '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(azure_config_fini) struct azure_config config = {0};

    if (!input_taken(azure_config_parse((const char *)data, size, &config)))
        return 0;
    MUST(config.tenant && config.subscription && config.resource_group && config.location);
    MUST(!strpbrk(config.subscription, "/?#%"));
    check_url(config.resource_manager);
    if (!config.discover) {
        check_url(config.authority);
        MUST(config.audience);
    }
    return 0;
}
