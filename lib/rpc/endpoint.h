/* endpoint.h - where a gRPC server listens: a unix socket, named as CSI programs name it.
 *
 * gRPC says of a path that it cannot use only that it cannot, so the reasons are looked for here.
 * Any thread.
 */
#pragma once

#include "lib/base/err.h"

/* The path of "unix:///csi/csi.sock", "unix:/csi/csi.sock" or "/csi/csi.sock"; it points into
 * `endpoint`. INVALID for anything else. */
struct err *endpoint_path(const char *endpoint, const char **ret_path)
    __attribute__((warn_unused_result));

/* UNAVAILABLE unless a server may listen there now: the folder exists and can be written to, and
 * the path is free or is a socket that its process left behind. */
struct err *endpoint_check(const char *path) __attribute__((warn_unused_result));
