/* resource_id.h - the ids by which Azure Resource Manager names things.
 *
 * "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/disks/N". Names keep the case in
 * which they were created but are equal whatever their case, so ids are compared only here.
 *
 * An id becomes the path of a URL. Anybody who can write one, into a PersistentVolume or a Node,
 * must not be able to ask for something else by it: an id has no characters but those that Azure's
 * names have, no query and no "..".
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct resource_id {
    char *subscription, *resource_group;
    char *type; /* "disks", "virtualMachines" */
    char *name;
};

/* INVALID, with the id and what is wrong with it, unless it begins with /subscriptions/ and goes on
 * with names only. */
struct err *resource_id_check(const char *text) __attribute__((warn_unused_result));

/* The same unless it is of Microsoft.Compute and of a type without a parent, too. */
struct err *resource_id_parse(const char *text, struct resource_id *ret)
    __attribute__((warn_unused_result));
/* The same unless it is of this type. */
struct err *resource_id_check_type(const char *text, const char *type)
    __attribute__((warn_unused_result));
void resource_id_fini(struct resource_id *id);

char *resource_id_format(const char *subscription, const char *resource_group, const char *type,
                         const char *name) __attribute__((warn_unused_result));

/* What it is one of: everything but its name. free() it. */
char *resource_id_collection(const char *id) __attribute__((warn_unused_result));
bool resource_id_equal(const char *a, const char *b); /* either may be NULL */
