#include "provisioner-lib/records/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/sha.h>

#include "lib/base/alloc.h"

enum {
    OBJECT_NAME_MAX = 253,
    HASH_DIGITS = 40,
    SHORT_HASH_DIGITS = 16, /* "pvc-<uid>.<hash>" can be the value of a label */
};

static bool is_label_character(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static char *hash_of(const char *text)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char *digits = mem_alloc(HASH_DIGITS + 1);

    SHA256((const unsigned char *)text, strlen(text), digest);
    for (int i = 0; i < HASH_DIGITS / 2; i++)
        snprintf(digits + 2 * i, 3, "%02x", digest[i]);
    return digits;
}

/* How much of a name can stand before something else: at most `most` characters, of which
 * Kubernetes takes the first and the last. */
static int usable_beginning(const char *name, size_t most)
{
    size_t length = 0, end = 0;

    while (length < most && is_label_character(name[length])) {
        length++;
        if (isalnum((unsigned char)name[length - 1]))
            end = length;
    }
    return isalnum((unsigned char)name[0]) ? (int)end : 0;
}

char *label_value_of(const char *name)
{
    size_t length = strlen(name);

    if (length <= LABEL_VALUE_MAX && usable_beginning(name, length) == (int)length)
        return mem_strdup(name);

    CLEANUP(freep) char *hash = hash_of(name);
    int kept = usable_beginning(name, LABEL_VALUE_MAX - HASH_DIGITS - 1);
    return mem_printf("%.*s%s%s", kept, name, kept > 0 ? "-" : "", hash);
}

/* What is at once a disk's name and a Kubernetes object's: lower case, because Azure's names differ
 * only by more than their case. */
static bool is_usable(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > DISK_NAME_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool plain = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]);
        bool inner = i > 0 && i + 1 < length && name[i] == '-';

        if (!plain && !inner)
            return false;
    }
    return true;
}

char *disk_name_of(const char *csi_name)
{
    if (is_usable(csi_name))
        return mem_strdup(csi_name);

    CLEANUP(freep) char *hash = hash_of(csi_name);
    return mem_printf("csi-%s", hash);
}

/* Behind the last "/disks/", since a resource group may be called so too; "" if it is no disk's id.
 */
static const char *disk_name_in(const char *volume_id)
{
    static const char root[] = "/subscriptions/", type[] = "/disks";
    const char *name = strrchr(volume_id, '/');
    size_t length = name ? (size_t)(name - volume_id) : 0;

    if (length < strlen(root) + strlen(type) || strncasecmp(volume_id, root, strlen(root)) != 0 ||
        strncasecmp(name - strlen(type), type, strlen(type)) != 0)
        return "";
    return name + 1;
}

struct err *volume_name_of_id(const char *volume_id, char **ret_name)
{
    const char *name = disk_name_in(volume_id);

    if (!*name)
        return err_new(ERR_INVALID, "volume id \"%s\" is not the id of a managed disk", volume_id);
    CLEANUP(freep) char *lower = mem_lower(name);
    if (is_usable(lower)) {
        *ret_name = TAKE_PTR(lower);
        return NULL;
    }
    CLEANUP(freep) char *hash = hash_of(lower); /* it has dots or underscores */
    *ret_name = mem_printf("csi-%s", hash);
    return NULL;
}

char *snapshot_name_with_hash(const char *snapshot_id)
{
    const char *slash = strrchr(snapshot_id, '/');
    CLEANUP(freep) char *plain = disk_name_of(slash ? slash + 1 : snapshot_id);
    CLEANUP(freep) char *lower = mem_lower(snapshot_id);
    CLEANUP(freep) char *hash = hash_of(lower);

    return mem_printf("%s.%.*s", plain, SHORT_HASH_DIGITS, hash);
}

#define LOCAL_SUFFIX ".local"

char *snapshot_local_name(const char *snapshot_name)
{
    return mem_printf("%s" LOCAL_SUFFIX, snapshot_name);
}

char *snapshot_name_of_local(const char *local_name)
{
    size_t length = strlen(local_name), n = strlen(LOCAL_SUFFIX);

    return length > n && strcmp(local_name + length - n, LOCAL_SUFFIX) == 0
               ? mem_strndup(local_name, length - n)
               : NULL;
}

char *volume_name_with_hash(const char *volume_id)
{
    CLEANUP(freep) char *plain = NULL;
    CLEANUP(err_freep) struct err *err = volume_name_of_id(volume_id, &plain);

    if (err)
        return NULL;
    CLEANUP(freep) char *lower = mem_lower(volume_id);
    CLEANUP(freep) char *hash = hash_of(lower);
    return mem_printf("%s.%.*s", plain, SHORT_HASH_DIGITS, hash);
}

char *volume_name_without_hash(const char *volume_name)
{
    return mem_printf("%.*s", (int)strcspn(volume_name, "."), volume_name);
}

char *attachment_name_of(const char *volume_name, const char *node)
{
    CLEANUP(freep) char *lower_node = mem_lower(node);
    char *name = mem_printf("%s-%s-attachment", volume_name, lower_node);

    if (strlen(name) <= OBJECT_NAME_MAX)
        return name;
    free(name);
    return attachment_name_with_hash(volume_name, node);
}

char *attachment_name_with_hash(const char *volume_name, const char *node)
{
    CLEANUP(freep) char *lower_node = mem_lower(node);
    CLEANUP(freep) char *both = mem_printf("%s/%s", volume_name, lower_node);
    CLEANUP(freep) char *hash = hash_of(both);
    size_t most = OBJECT_NAME_MAX - HASH_DIGITS - strlen("--attachment");

    return mem_printf("%.*s-%s-attachment", usable_beginning(volume_name, most), volume_name, hash);
}
