/* YAML of configuration files: what is taken is JSON. */
#include "lib/json/parse.h"
#include "lib/json/yaml.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *json = NULL, *again = NULL;

    if (!input_taken(yaml_parse((const char *)data, size, &json)))
        return 0;
    CLEANUP(freep) char *text = json_to_text(json);
    MUST(input_taken(json_parse_here(text, strlen(text), &again)));
    MUST(json_equal(json, again));
    return 0;
}
