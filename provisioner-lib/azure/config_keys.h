/* config_keys.h - the keys of azure.json: those that mean something here, and all the others that
 * the Azure cloud provider has and that do not concern disks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum config_key_type { CONFIG_UNUSED, CONFIG_TEXT, CONFIG_FLAG };

struct config_key {
    const char *name;
    enum config_key_type type;
    size_t offset;        /* in struct azure_config, of a char * or a bool */
    const char *variable; /* of the environment, which goes before the file; NULL: none */
    bool required;
    const char *characters; /* it may have beside letters and digits; NULL: anything */
    bool secret;            /* kept out of core dumps (lib/base/secret.h) */
};

extern const struct config_key config_keys[];
extern const size_t config_keys_count;

/* Whatever the case of its letters; NULL if there is no such key. */
const struct config_key *config_key_find(const char *name);
