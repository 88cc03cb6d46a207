/* handlers.h - what the table of routes points to, and how resources look in answers.
 *
 * Handlers take a complete exchange: authenticated, with its api-version and its group checked.
 */
#pragma once

#include "test/azsim/arm/exchange.h"

/* disks.c */
void disks_put(struct exchange *exchange);
void disks_patch(struct exchange *exchange);
void disks_get(struct exchange *exchange);
void disks_delete(struct exchange *exchange);
void disks_list(struct exchange *exchange);
json_t *disk_json(const struct disk *disk);

/* vms.c */
void vms_put(struct exchange *exchange);
void vms_patch(struct exchange *exchange);
void vms_get(struct exchange *exchange);
void vms_instance_view(struct exchange *exchange);
void vms_attach_detach(struct exchange *exchange);
void vms_list(struct exchange *exchange);

/* vm_json.c */
json_t *vm_json(const struct vm *vm);
json_t *vm_instance_view_json(const struct vm *vm);
json_t *vm_storage_profile_json(const struct vm *vm);
char *vm_etag(const struct vm *vm) __attribute__((warn_unused_result)); /* with its quotes */

/* operations.c */
void operations_get(struct exchange *exchange);
/* Tells the client where to follow an operation; `location` whether by Location too. */
void operation_headers(struct exchange *exchange, const struct operation *operation, bool location);

/* skus.c */
void skus_list(struct exchange *exchange);

/* entra.c; these need no token */
void entra_token(struct exchange *exchange);
void entra_openid_configuration(struct exchange *exchange);
void entra_instance_discovery(struct exchange *exchange);
void metadata_endpoints(struct exchange *exchange);

/* imds.c */
void imds_handle(struct exchange *exchange);
