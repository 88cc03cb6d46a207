#include "node/boot_id.h"

#include <string.h>

#include "lib/base/file.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

enum { BOOT_ID_SIZE = 64 };

struct err *boot_id_read(char **ret)
{
    TRY(file_read(BOOT_ID, BOOT_ID_SIZE, ret, NULL));
    (*ret)[strcspn(*ret, "\n")] = '\0';
    return NULL;
}
