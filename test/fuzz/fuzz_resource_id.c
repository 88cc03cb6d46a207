/* Ids of Azure resources, which become paths of URLs. */
#include "provisioner-lib/azure/resource_id.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = input_text(data, size);
    CLEANUP(resource_id_fini) struct resource_id id = {0}, again = {0};
    bool checked = input_taken(resource_id_check(text));
    bool parsed = input_taken(resource_id_parse(text, &id));

    MUST(checked || !parsed);
    if (checked) {
        MUST(strncasecmp(text, "/subscriptions/", 15) == 0);
        MUST(!strpbrk(text, "?#%\\ \t\r\n\"'<>"));
        MUST(!strstr(text, "//") && !strstr(text, "/./") && !strstr(text, "/../"));
    }
    if (!parsed)
        return 0;
    CLEANUP(freep)
    char *formatted = resource_id_format(id.subscription, id.resource_group, id.type, id.name);
    MUST(resource_id_equal(text, formatted));
    MUST(input_taken(resource_id_parse(formatted, &again)));
    MUST(strcmp(id.name, again.name) == 0 && strcmp(id.type, again.type) == 0);
    return 0;
}
