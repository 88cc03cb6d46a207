#include "lib/rpc/unpack.h"

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/utf8.h"

struct room {
    struct arena *arena;
    bool is_full;
};

static void *take(void *ctx, size_t size)
{
    struct room *room = ctx;

    room->is_full = arena_used(room->arena) + size > RPC_MOST_UNPACKED;
    return room->is_full ? NULL : arena_alloc(room->arena, size);
}

static void give_back(void *ctx, void *memory)
{
    (void)ctx;
    (void)memory;
}

static struct err *check_texts(const ProtobufCMessage *message);

/* A text, or a message. */
static struct err *check_value(const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field, const void *value)
{
    const char *text = value;

    if (!value)
        return NULL;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return check_texts(value);
    return utf8_is_valid(text) ? NULL
                               : err_new(ERR_INVALID, "%s of %s is not UTF-8", field->name,
                                         message->descriptor->name);
}

static struct err *check_field(const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field)
{
    const char *base = (const char *)message;
    const void *member = base + field->offset, *quantifier = base + field->quantifier_offset;

    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        bool absent = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
                      *(const uint32_t *)quantifier != field->id;

        return absent ? NULL : check_value(message, field, *(void *const *)member);
    }
    void *const *values = *(void *const *const *)member;
    for (size_t i = 0; i < *(const size_t *)quantifier; i++)
        TRY(check_value(message, field, values[i]));
    return NULL;
}

static struct err *check_texts(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;

    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].type == PROTOBUF_C_TYPE_STRING ||
            type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            TRY(check_field(message, &type->fields[i]));
    return NULL;
}

struct err *rpc_unpack(const ProtobufCMessageDescriptor *type, const void *bytes, size_t length,
                       struct arena *arena, ProtobufCMessage **ret)
{
    struct room room = {.arena = arena};
    ProtobufCAllocator allocator = {take, give_back, &room};
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, length, bytes);

    if (!message && room.is_full)
        return err_new(ERR_EXHAUSTED,
                       "the request is too large: unpacked, it takes more than %d MiB",
                       RPC_MOST_UNPACKED >> 20);
    if (!message)
        return err_new(ERR_INVALID, "the request is not a %s", type->name);
    TRY(check_texts(message));
    *ret = message;
    return NULL;
}
