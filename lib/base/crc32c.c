#include "lib/base/crc32c.h"

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

uint32_t crc32c(uint32_t crc, const void *data, size_t length)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
    }
    return crc;
}
