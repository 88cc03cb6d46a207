#include "azdiskctl/plugin.h"

#include <string.h>

static bool ends_in(const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return path && strcmp(slash ? slash + 1 : path, name) == 0;
}

const char *plugin_spoken(const char *called)
{
    return ends_in(called, "kubectl-azdisk") ? "kubectl azdisk" : "azdiskctl";
}

bool plugin_completes(const char *called)
{
    return ends_in(called, "kubectl_complete-azdisk");
}
