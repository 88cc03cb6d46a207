/* unpack.h - a message as it travels, read.
 *
 * Text in a message is UTF-8, which protobuf demands and protobuf-c does not look at: what is made
 * of a request, JSON above all, relies on it. Any thread.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

enum { RPC_MOST_UNPACKED = 16 * 1024 * 1024 };

/* The message of `type` lives in `arena`; nothing of it points to `bytes`. INVALID if they are no
 * such message, or a text in it is not UTF-8; EXHAUSTED if the arena would have more than
 * RPC_MOST_UNPACKED: small fields take many times what they take on their way, and no request of
 * use has so many. */
struct err *rpc_unpack(const ProtobufCMessageDescriptor *type, const void *bytes, size_t length,
                       struct arena *arena, ProtobufCMessage **ret)
    __attribute__((warn_unused_result));
