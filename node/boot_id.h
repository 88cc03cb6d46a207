/* boot_id.h - which run of this machine's kernel this is, as the plug-in reads it.
 *
 * The key of a fence, the plug-in's Lease and status.bootId of the AzDriverNode have this one, and
 * by the last of them the records of attachments (ANNOTATION_BOOT). The taint of a node that was
 * given up has the one that kubelet reports in the Node. controller/failover/silence.h says what
 * holds where the two differ.
 */
#pragma once

#include "lib/base/err.h"

/* free() it. */
struct err *boot_id_read(char **ret) __attribute__((warn_unused_result));
