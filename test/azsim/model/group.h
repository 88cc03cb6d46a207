/* group.h - resource groups, as clients make, change and delete them.
 *
 * A deletion takes its time, in which nothing in the group may change, and takes everything along.
 * What another group's VM has attached stays, and the group with it. A group that is gone remains
 * in the model's list, marked so, for others point to it; one of the same name takes its place.
 * Groups belong to the model.
 */
#pragma once

#include "test/azsim/model/model.h"
#include "test/azsim/model/operation.h"

/* By the key of a group, its id in lower case; NULL if there is none, or it is gone. */
struct group *group_find(const struct model *model, const char *key);
char *group_id(const struct group *group) __attribute__((warn_unused_result));
/* 1 to 90 letters, digits, '-', '_', '.', '(' and ')', and no '.' at the end. */
bool group_name_is_valid(const char *name);
struct refusal *group_check_name(const char *name) __attribute__((warn_unused_result));

/* Its region, which need not be that of what is in it. */
const char *group_location(const struct group *group);

/* PUT: makes it, or replaces its tags. */
struct refusal *group_put(struct model *model, const struct subscription *subscription,
                          const char *name, const json_t *body, struct group **ret, bool *ret_new)
    __attribute__((warn_unused_result));
/* PATCH */
struct refusal *group_patch(struct group *group, const json_t *body)
    __attribute__((warn_unused_result));
/* The deletion that is under way, if one is. */
struct operation *group_delete(struct group *group);

/* Whether it may change: not while it is deleted. */
struct refusal *group_check_alive(const struct group *group) __attribute__((warn_unused_result));

/* As it was before a restart; takes the body. */
void group_restore(struct group *group, json_t *body, bool gone);

/* The end of its operations; see operation.c. */
struct refusal *group_operation_due(struct operation *operation);
void group_operation_ended(struct operation *operation);
