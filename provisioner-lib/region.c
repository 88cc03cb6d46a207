#include "provisioner-lib/region.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

char *region_name(const char *text)
{
    char *name = mem_strdup(text), *to = name;

    for (const char *from = text; *from; from++)
        if (!isspace((unsigned char)*from))
            *to++ = (char)tolower((unsigned char)*from);
    *to = '\0';
    return name;
}

bool region_equal(const char *a, const char *b)
{
    CLEANUP(freep) char *name_a = region_name(a);
    CLEANUP(freep) char *name_b = region_name(b);

    return strcmp(name_a, name_b) == 0;
}
