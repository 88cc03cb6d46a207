/* listen.h - a listening socket from an address as people write it.
 */
#pragma once

#include "lib/base/err.h"

#define LISTEN_UNIX "unix://" /* what the address of a Unix socket begins with */

/* "0.0.0.0:29602", "[::1]:0", ":8889" (every address), "unix:///csi/health.sock" (a socket that is
 * there already is replaced). INVALID for another form; UNAVAILABLE with the system's reason if the
 * address cannot be had, BUSY if another process has it. */
struct err *listen_on(const char *address, int *ret_fd) __attribute__((warn_unused_result));
unsigned listen_port(int fd); /* 0 of a Unix socket */

/* INVALID if the path, behind LISTEN_UNIX, does not fit into an address. */
struct sockaddr_un;
struct err *listen_unix_address(const char *address, struct sockaddr_un *ret)
    __attribute__((warn_unused_result));
