#include "azdiskctl/upgrade_path.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

struct version {
    long major, minor;
};

static bool version_parse(const char *text, struct version *ret)
{
    char *end;

    if (!text)
        return false;
    text += *text == 'v';
    ret->major = strtol(text, &end, 10);
    if (end == text || *end != '.')
        return false;
    text = end + 1;
    ret->minor = strtol(text, &end, 10);
    return end != text && (*end == '.' || *end == '\0');
}

bool upgrade_path_is_open(const char *is, const char *wanted, char **ret_wrong, char **ret_todo)
{
    struct version from, to;

    if (!version_parse(is, &from) || !version_parse(wanted, &to))
        return true;
    if (from.major > to.major || (from.major == to.major && from.minor > to.minor)) {
        *ret_wrong = mem_printf("version %s is installed, and this chart's is %s, which is older",
                                is, wanted);
        *ret_todo =
            mem_printf("use a chart of version %ld.%ld or later, or go back by helm rollback",
                       from.major, from.minor);
        return false;
    }
    if (from.major == to.major && to.minor - from.minor > 1) {
        *ret_wrong = mem_printf("version %s is installed, and this chart's is %s: a minor version "
                                "must not be skipped",
                                is, wanted);
        *ret_todo =
            mem_printf("upgrade to a chart of version %ld.%ld first", from.major, from.minor + 1);
        return false;
    }
    return true;
}
