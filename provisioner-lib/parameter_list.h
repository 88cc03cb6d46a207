/* parameter_list.h - names with values, as StorageClasses, volumes and records have them.
 *
 * Pure. Lists borrow from what they were made of.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/alloc.h"

struct parameter {
    const char *name, *value;
};

/* The entries of a protobuf map of texts. free() the list. */
#define PARAMETER_LIST(entries, n)                                                                 \
    ({                                                                                             \
        struct parameter *list_ = mem_alloc((n) * sizeof *list_);                                  \
        for (size_t i_ = 0; i_ < (n); i_++)                                                        \
            list_[i_] = (struct parameter){(entries)[i_]->key, (entries)[i_]->value};              \
        list_;                                                                                     \
    })

/* A parameter by name, whatever its case; NULL if it is not there. */
const char *parameter_find(const struct parameter *parameters, size_t n, const char *name);

/* First those of a StorageClass, then those of a VolumeAttributesClass, which are parsed later and
 * so take precedence. free() the list. */
struct parameter *parameters_overridden(const struct parameter *parameters, size_t n,
                                        const struct parameter *mutable, size_t n_mutable)
    __attribute__((warn_unused_result));

/* Each of the part is there, with its name as it is spelled and its value. */
bool parameters_include(const struct parameter *parameters, size_t n, const struct parameter *part,
                        size_t n_part);

/* As members of a JSON object: their values, or null, by which a merge patch takes them away. */
void parameters_set(json_t *object, const struct parameter *parameters, size_t n);
void parameters_unset(json_t *object, const struct parameter *parameters, size_t n);
