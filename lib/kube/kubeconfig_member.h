/* kubeconfig_member.h - members of a kubeconfig's maps that have to be texts.
 *
 * YAML takes a token of digits for a number, so that a text of another type is an error that says
 * what to do. What is found is borrowed from the map. Any thread.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

/* NULL if it is not there, or empty, which is the same to other programs. */
struct err *kubeconfig_text(const json_t *map, const char *member, const char **ret)
    __attribute__((warn_unused_result));
/* INVALID instead of NULL. */
struct err *kubeconfig_required_text(const json_t *map, const char *member, const char **ret)
    __attribute__((warn_unused_result));
