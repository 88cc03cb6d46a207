#include "azdiskctl/usage.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/cleanup.h"

enum { FORMS_AT = 2, HELP_AT = 20, WIDTH = 92, LONGEST = 1 << 16 };

/* From column HELP_AT on, where the line is already. */
static void add_wrapped(struct buffer *out, const char *text)
{
    size_t column = HELP_AT;

    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        if (column > HELP_AT && column + 1 + length > WIDTH) {
            buffer_printf(out, "\n%*s", HELP_AT, "");
            column = HELP_AT;
        }
        buffer_printf(out, "%s%.*s", column > HELP_AT ? " " : "", (int)length, text);
        column += length + (column > HELP_AT);
    }
    buffer_printf(out, "\n");
}

static void add_command(struct buffer *out, const struct command *command)
{
    CLEANUP(freep)
    char *forms = command->usage ? mem_strdup(command->usage)
                                 : mem_printf("%s%s%s", command->name, command->subject ? " " : "",
                                              command->subject ? command->subject : "");

    buffer_printf(out, "%*s%-*s", FORMS_AT, "", HELP_AT - FORMS_AT, forms);
    if (FORMS_AT + strlen(forms) >= HELP_AT)
        buffer_printf(out, "\n%*s", HELP_AT, "");
    add_wrapped(out, command->help);
}

char *usage_of_commands(const struct command *const *commands, size_t n)
{
    struct buffer out;

    buffer_init(&out, LONGEST);
    buffer_printf(&out, "\nCommands:\n");
    for (size_t i = 0; i < n; i++)
        add_command(&out, commands[i]);
    return buffer_take(&out);
}
