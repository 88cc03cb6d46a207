#include "azdiskctl/log_printer.h"

#include <errno.h>
#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/printable.h"
#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/json/parse.h"
#include "lib/json/yaml_writer.h"

static void widen(int *width, const char *name)
{
    CLEANUP(freep) char *printable = printable_text(name);

    if ((int)strlen(printable) > *width)
        *width = (int)strlen(printable);
}

void log_printer_widen(struct log_printer *printer, const json_t *source)
{
    widen(&printer->pod, text_of(source, "pod"));
    widen(&printer->container, text_of(source, "container"));
}

char *log_printer_text(const struct log_printer *printer, const json_t *line)
{
    if (printer->output == OUTPUT_JSON) {
        CLEANUP(freep) char *json = json_to_text(line);

        return mem_printf("%s\n", json);
    }
    if (printer->output == OUTPUT_YAML) {
        CLEANUP(freep) char *yaml = yaml_to_text(line);

        return mem_printf("---\n%s", yaml);
    }
    CLEANUP(json_decrefp) json_t *printable = printable_json(line);
    return mem_printf("%s  %-*s  %-*s  %s\n", text_of(printable, "time"), printer->pod,
                      text_of(printable, "pod"), printer->container,
                      text_of(printable, "container"), text_of(printable, "text"));
}

void log_printer_print(struct log_printer *printer, const json_t *lines)
{
    const json_t *line;
    size_t i;

    json_array_foreach(lines, i, line) {
        CLEANUP(freep) char *text = log_printer_text(printer, line);

        if (printer->error)
            return;
        if (fputs(text, printer->out) == EOF)
            printer->error = errno;
    }
    if (!printer->error && fflush(printer->out) == EOF)
        printer->error = errno;
}

bool log_printer_is_closed(struct log_printer *printer)
{
    if (!printer->error && output_is_closed(printer->out))
        printer->error = EPIPE;
    return printer->error;
}

struct err *log_printer_error(const struct log_printer *printer)
{
    return printer->error && printer->error != EPIPE
               ? err_new(ERR_UNAVAILABLE, "the output: %s", strerror(printer->error))
               : NULL;
}
