/* YAML of configuration files: what is taken is JSON, and written as YAML it is the same. */
#include "lib/json/parse.h"
#include "lib/json/yaml.h"
#include "lib/json/yaml_writer.h"
#include "test/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *json = NULL, *again = NULL, *written = NULL;

    if (!input_taken(yaml_parse((const char *)data, size, &json)))
        return 0;
    CLEANUP(freep) char *text = json_to_text(json);
    MUST(input_taken(json_parse_here(text, strlen(text), &again)));
    MUST(json_equal(json, again));
    CLEANUP(freep) char *yaml = yaml_to_text(json);
    MUST(input_taken(yaml_parse(yaml, strlen(yaml), &written)));
    MUST(json_equal(json, written));
    return 0;
}
