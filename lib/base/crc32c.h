/* crc32c.h - the checksum of file systems and of their journals: CRC-32C (Castagnoli), by bits.
 *
 * For a few blocks: it has no tables and is slow. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Goes on with `crc`; neither this nor the result is inverted. Most begin with ~0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t length);
