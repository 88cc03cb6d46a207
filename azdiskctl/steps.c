#include "azdiskctl/steps.h"

#include <stdarg.h>

#include "azdiskctl/printable.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"

enum { MS_IN_S = 1000 };

void steps_begin(struct steps *steps, struct loop *loop, FILE *out)
{
    *steps =
        (struct steps){.loop = loop, .out = out, .begun = loop_now(loop), .list = json_array()};
}

void steps_end(struct steps *steps)
{
    json_decref(steps->list);
}

void steps_say(struct steps *steps, const char *format, ...)
{
    double seconds = (double)(loop_now(steps->loop) - steps->begun) / MS_IN_S;
    char time[TIMESTAMP_SIZE];
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    CLEANUP(freep) char *printable = printable_text(text);
    timestamp_format(loop_wall_us(steps->loop), time);
    fprintf(steps->out, "%s  %5.1f s  %s\n", time, seconds, printable);
    fflush(steps->out);
    json_array_append_new(
        steps->list, json_pack("{s:s, s:f, s:s}", "time", time, "seconds", seconds, "text", text));
}
