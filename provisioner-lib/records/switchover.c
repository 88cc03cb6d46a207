#include "provisioner-lib/records/switchover.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/object.h"

enum { US_IN_MS = 1000 };

char *switchover_text(const char *node, int64_t until_us)
{
    char until[TIMESTAMP_SIZE];

    timestamp_format(until_us, until);
    return mem_printf("%s %s", node, until);
}

char *switchover_node(const char *text, int64_t now_us)
{
    const char *space = text ? strchr(text, ' ') : NULL;
    int64_t until_us = space ? timestamp_noted(space + 1) : 0;

    if (until_us <= now_us || until_us - now_us > (int64_t)SWITCHOVER_LONGEST_MS * US_IN_MS ||
        space == text)
        return NULL;
    return mem_strndup(text, (size_t)(space - text));
}
