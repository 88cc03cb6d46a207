/* arm_list.h - lists of Azure Resource Manager, which come in pages.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"

/* Takes what is in a page; returns its link to the next page, NULL if there is none. What is
 * returned belongs to the page. */
typedef const char *arm_take_page_fn(void *ctx, const ProtobufCMessage *page);

/* All pages, from that of `request` on; `type` is that of a page. INTERNAL if there is no end to
 * them, or one is in another cloud's hands. What was taken until an error stays taken. */
struct err *arm_list(struct task *self, struct arm_client *arm, const struct arm_request *request,
                     const ProtobufCMessageDescriptor *type, arm_take_page_fn *take, void *ctx)
    __attribute__((warn_unused_result));
