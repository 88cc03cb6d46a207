/* csi_secrets.h - the fields of CSI messages that hold secrets.
 *
 * The specification marks them with an option that protobuf-c drops, so they are listed here;
 * test/api compares the list with the official descriptors. Whoever prints a message asks first.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Must never be logged, stored or put into an error. */
bool csi_field_is_secret(const ProtobufCMessageDescriptor *message,
                         const ProtobufCFieldDescriptor *field);
