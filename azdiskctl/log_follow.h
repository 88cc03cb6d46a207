/* log_follow.h - `azdiskctl logs --follow`: what is there, in the order of time, and then what
 * comes.
 */
#pragma once

#include "azdiskctl/logs.h"
#include "azdiskctl/output.h"

/* Prints until Ctrl-C, or until nobody reads it any more, which are successes. Pods and nodes that
 * come are followed as well. `ret_complete` is false if something could not be read. EXHAUSTED if
 * there are too many containers. */
struct err *logs_follow(struct task *self, const struct logs_config *config, enum output output,
                        bool *ret_complete) __attribute__((warn_unused_result));
