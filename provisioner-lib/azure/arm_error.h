/* arm_error.h - what Azure's refusals mean to this driver, in one table.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/http/message.h"

/* The error that a response with a status of 400 or more says, whatever its form. `json` is its
 * document, NULL if it has none; `now_us` is the time since 1970. */
struct err *arm_error(const struct http_response *response, const json_t *json, int64_t now_us)
    __attribute__((warn_unused_result));

/* The same for an operation that failed: `json` is its "error" member. */
struct err *arm_operation_error(const json_t *json) __attribute__((warn_unused_result));

/* How long an answer asks to wait; 0 if it does not say. */
uint64_t arm_retry_after_ms(const struct http_response *response, int64_t now_us);

/* How many data disks the VM's size allows, if that is why more were refused; else 0. */
int arm_error_data_disks(const struct err *err);

/* May a request that changes several disks have been refused because of one of them? */
bool arm_error_may_be_of_one_disk(const struct err *err);
