#include "provisioner-lib/host/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/sha.h>

#include "lib/base/alloc.h"

static const unsigned char MARK[4] = {'a', 'z', 'd', 'k'};
#define MARK_TEXT "617a646b-"

static void uuid_text(const unsigned char bytes[16], char text[UUID_SIZE])
{
    char *end = text;

    for (int i = 0; i < 16; i++)
        end += snprintf(end, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
}

void identity_derive(const char *volume_id, char uuid[UUID_SIZE])
{
    CLEANUP(freep) char *lower = mem_lower(volume_id);
    unsigned char digest[SHA256_DIGEST_LENGTH], bytes[16];

    SHA256((const unsigned char *)lower, strlen(lower), digest);
    memcpy(bytes, MARK, sizeof MARK);
    memcpy(bytes + sizeof MARK, digest, sizeof bytes - sizeof MARK);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    uuid_text(bytes, uuid);
}

bool identity_has_mark(const char *uuid)
{
    return strncasecmp(uuid, MARK_TEXT, strlen(MARK_TEXT)) == 0;
}

bool identity_is_uuid(const char *text)
{
    for (int i = 0; i < UUID_SIZE - 1; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    }
    return text[UUID_SIZE - 1] == '\0';
}

struct err *identity_uuid_bytes(const char *text, unsigned char ret[16])
{
    if (!identity_is_uuid(text))
        return err_new(ERR_INVALID, "\"%s\" is not a UUID", text);
    for (int i = 0; i < 16; i++) {
        char digits[] = {text[0], text[1], '\0'};

        ret[i] = (unsigned char)strtoul(digits, NULL, 16);
        text += text[2] == '-' ? 3 : 2;
    }
    return NULL;
}

struct err *identity_parse(const char *record, struct filesystem_identity *ret)
{
    size_t length = strcspn(record, " ");

    if (length == 0 || length >= FILESYSTEM_NAME_SIZE || !record[length] ||
        !identity_is_uuid(record + length + 1))
        return err_new(ERR_INVALID, "\"%s\" is not a file system type followed by a UUID", record);
    memcpy(ret->type, record, length);
    ret->type[length] = '\0';
    memcpy(ret->uuid, record + length + 1, UUID_SIZE);
    return NULL;
}

char *identity_format(const struct filesystem_identity *identity)
{
    return mem_printf("%s %s", identity->type, identity->uuid);
}
