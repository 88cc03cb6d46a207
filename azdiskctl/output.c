#include "azdiskctl/output.h"

#include "azdiskctl/printable.h"
#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/json/parse.h"
#include "lib/json/yaml_writer.h"

enum { LARGEST_OUTPUT = 256 * 1024 * 1024 };

const char *const output_names[OUTPUTS + 1] = {
    [OUTPUT_TEXT] = "text", [OUTPUT_TABLE] = "table", [OUTPUT_WIDE] = "wide",
    [OUTPUT_NAME] = "name", [OUTPUT_JSON] = "json",   [OUTPUT_YAML] = "yaml",
};

bool output_is_data(enum output output)
{
    return output == OUTPUT_JSON || output == OUTPUT_YAML;
}

bool output_is_offered(const struct output_writers *writers, enum output output)
{
    return output_is_data(output) || writers->of[output];
}

char *outputs_offered(const struct output_writers *writers)
{
    struct buffer names;

    buffer_init(&names, 1024);
    for (int i = 0; i < OUTPUTS; i++)
        if (output_is_offered(writers, (enum output)i))
            buffer_printf(&names, "%s%s", names.length ? ", " : "", output_names[i]);
    return buffer_take(&names);
}

static char *json_line(const json_t *document)
{
    CLEANUP(freep) char *text = json_to_text(document);

    return mem_printf("%s\n", text);
}

char *output_text(const struct output_writers *writers, enum output output, const json_t *document)
{
    struct buffer out;

    if (output == OUTPUT_JSON)
        return json_line(document);
    if (output == OUTPUT_YAML)
        return yaml_to_text(document);
    CLEANUP(json_decrefp) json_t *printable = printable_json(document);
    buffer_init(&out, LARGEST_OUTPUT);
    writers->of[output](printable, &out);
    return buffer_take(&out);
}
