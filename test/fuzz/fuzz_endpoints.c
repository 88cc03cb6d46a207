/* Where an Azure that is known by its Resource Manager only says that its Entra ID is: answers one
 * after the other, one a line, until one is good. */
#include "lib/json/parse.h"
#include "provisioner-lib/azure/cloud_endpoints.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = input_text(data, size);
    CLEANUP(azure_config_fini) struct azure_config config = {.discover = true};
    char *rest = text, *line;

    while (config.discover && (line = strsep(&rest, "\n"))) {
        CLEANUP(json_decrefp) json_t *json = NULL;

        if (input_taken(json_parse_here(line, strlen(line), &json)))
            (void)input_taken(cloud_endpoints_take(&config, json));
    }
    if (config.discover)
        return 0;
    /* The identity's secret goes there. */
    MUST(strncmp(config.authority, "https://", 8) == 0 && config.authority[8]);
    MUST(config.audience);
    return 0;
}
