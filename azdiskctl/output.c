#include "azdiskctl/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

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

void output_reserve(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool output_is_closed(FILE *out)
{
    struct pollfd reader = {.fd = fileno(out)};

    return poll(&reader, 1, 0) > 0 && reader.revents & (POLLERR | POLLHUP);
}

struct err *output_print(FILE *out, const char *text)
{
    errno = 0;
    if ((fputs(text, out) != EOF && fflush(out) != EOF && !ferror(out)) || output_is_closed(out))
        return NULL;
    return err_new(ERR_UNAVAILABLE, "the output: %s",
                   errno ? strerror(errno) : "a part of it could not be written");
}
