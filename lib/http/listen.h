/* listen.h - a listening TCP socket from an address as people write it.
 */
#pragma once

#include "lib/base/err.h"

/* "0.0.0.0:29602", "[::1]:0", ":8889" (every address). INVALID for another form, UNAVAILABLE with
 * the system's reason if the address cannot be had. */
struct err *listen_on(const char *address, int *ret_fd) __attribute__((warn_unused_result));
unsigned listen_port(int fd);
