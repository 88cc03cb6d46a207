/* codec.h - JSON to protobuf-c messages and back, for every type of every API.
 *
 * Kubernetes objects, Azure bodies and configuration files are declared once, as messages in
 * lib/api. This one codec reads and writes them all by their descriptors: there is no code per
 * type, and a new field is one line in a .proto file.
 *
 * Names: a field disk_size_GB is "diskSizeGB" in JSON: an underscore goes and raises the next
 * letter, capitals stay. Two underscores stand for one that is kept: volume__id is "volume_id".
 *
 * Presence: proto2 optional. An absent or null member leaves a field unset; an unset field is not
 * written. 0, false and "" are values.
 *
 * Types: string, bool, int32, int64, double, messages, lists, maps with string keys. `bytes` holds
 * any JSON value as text, for subtrees that we only pass on.
 *
 * Texts of what was decoded are for reading only: equal ones may be one, and some are constants of
 * the program (lib/base/arena.h).
 *
 * Unknown members are ignored. So a decoded object is never written back whole: send a patch
 * (kube_patch in lib/kube/client.h).
 *
 * Bounds: JSON_CODEC_MAX_DEPTH levels. Numbers out of a field's range are errors, never truncated.
 * Any thread; both directions recurse with the document's depth.
 */
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

enum { JSON_CODEC_MAX_DEPTH = 64 };

/* Reads `json` as a message of `type`, which lives in `arena`; so does what was read before an
 * error. INVALID with the member's path if a value is of the wrong type or out of range:
 * "spec.retries: expected a 32-bit integer, not a string". */
struct err *json_decode(const ProtobufCMessageDescriptor *type, const json_t *json,
                        struct arena *arena, const ProtobufCMessage **ret_message)
    __attribute__((warn_unused_result));

/* The message as a new JSON object, members in order of declaration, map entries in their order.
 * Bytes that are not UTF-8 become '?' in strings; `bytes` that are not JSON are a bug and abort. */
json_t *json_encode(const ProtobufCMessage *message);
