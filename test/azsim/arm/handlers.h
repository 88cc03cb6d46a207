/* handlers.h - what the table of routes points to, and how resources look in answers.
 *
 * Handlers take a complete exchange: authenticated, with its api-version and its group checked.
 */
#pragma once

#include "test/azsim/arm/exchange.h"
#include "test/azsim/model/scale_set.h"
#include "test/azsim/model/snapshot.h"

/* disks.c */
void disks_put(struct exchange *exchange);
void disks_patch(struct exchange *exchange);
void disks_get(struct exchange *exchange);
void disks_delete(struct exchange *exchange);
void disks_begin_get_access(struct exchange *exchange);
void disks_end_get_access(struct exchange *exchange);
void disks_list(struct exchange *exchange);
json_t *disk_json(const struct disk *disk);

/* snapshots.c */
void snapshots_put(struct exchange *exchange);
void snapshots_patch(struct exchange *exchange);
void snapshots_get(struct exchange *exchange);
void snapshots_delete(struct exchange *exchange);
void snapshots_begin_get_access(struct exchange *exchange);
void snapshots_end_get_access(struct exchange *exchange);
void snapshots_list(struct exchange *exchange);
json_t *snapshot_json(const struct snapshot *snapshot);

/* vms.c */
void vms_put(struct exchange *exchange);
void vms_patch(struct exchange *exchange);
void vms_get(struct exchange *exchange);
void vms_instance_view(struct exchange *exchange);
void vms_sizes(struct exchange *exchange); /* that it could have */
void vms_attach_detach(struct exchange *exchange);
void vms_list(struct exchange *exchange);
void vms_list_of_scale_set(struct exchange *exchange);
/* The VM that the path names, by its name or as an instance. */
struct refusal *vm_find_of_path(const struct exchange *exchange, struct vm **ret)
    __attribute__((warn_unused_result));
/* The same; answers and returns NULL if there is none. */
struct vm *vm_of_path(struct exchange *exchange);

/* vm_actions.c */
void vms_start(struct exchange *exchange);
void vms_power_off(struct exchange *exchange);
void vms_deallocate(struct exchange *exchange);
void vms_reapply(struct exchange *exchange); /* and what else changes nothing: restart, redeploy */
void vms_delete(struct exchange *exchange);
void vms_run_command(struct exchange *exchange);
void vms_assess_patches(struct exchange *exchange);
void vms_install_patches(struct exchange *exchange);
void vms_generalize(struct exchange *exchange);
void vms_boot_diagnostics(struct exchange *exchange);
/* Those that Azure refuses of VMs as ours are. */
void vms_capture(struct exchange *exchange);
void vms_convert_to_managed_disks(struct exchange *exchange);
void vms_perform_maintenance(struct exchange *exchange);
void vms_reimage(struct exchange *exchange);
void vms_simulate_eviction(struct exchange *exchange);
void vms_migrate(struct exchange *exchange); /* to a scale set */

/* Results of what ran in a guest. */
/* Or a hibernation, which is asked for in the same way. */
enum operation_kind deallocation_asked_for(const struct exchange *exchange);
json_t *vm_run_command_json(void);
json_t *vm_patches_json(const struct operation *operation);

/* scale_sets.c */
void scale_sets_get(struct exchange *exchange);
void scale_sets_list(struct exchange *exchange);
void scale_sets_instance_view(struct exchange *exchange);
void scale_sets_skus(struct exchange *exchange);
void scale_sets_os_upgrade_history(struct exchange *exchange);
json_t *scale_set_json(const struct scale_set *set);
/* The scale set that the path names; NULL if there is none. */
struct scale_set *scale_set_find_of_path(const struct exchange *exchange);
/* The same; answers and returns NULL if there is none. */
struct scale_set *scale_set_of_path(struct exchange *exchange);

/* scale_set_actions.c */
void scale_sets_put(struct exchange *exchange);
void scale_sets_patch(struct exchange *exchange);
void scale_sets_delete(struct exchange *exchange);
void scale_sets_start(struct exchange *exchange);
void scale_sets_power_off(struct exchange *exchange);
void scale_sets_deallocate(struct exchange *exchange);
void scale_sets_reapply(struct exchange *exchange); /* and restart, redeploy, reimage, upgrade */
void scale_sets_delete_instances(struct exchange *exchange);
void scale_sets_perform_maintenance(struct exchange *exchange);
void scale_sets_not_set_up(struct exchange *exchange);
void scale_sets_convert_to_single_placement_group(struct exchange *exchange);
void scale_sets_scale_out(struct exchange *exchange);

/* vm_json.c */
json_t *vm_json(const struct vm *vm);
json_t *vm_instance_view_json(const struct vm *vm);
json_t *vm_storage_profile_json(const struct vm *vm);
/* The id of a VM as other resources name it. */
json_t *vm_id_json(const struct model *model, const char *id);
char *vm_etag(const struct vm *vm) __attribute__((warn_unused_result)); /* with its quotes */

/* operations.c */
void operations_get(struct exchange *exchange);
/* Tells the client where to follow an operation; `location` whether by Location too. */
void operation_headers(struct exchange *exchange, const struct operation *operation, bool location);

/* subscriptions.c */
void subscriptions_get(struct exchange *exchange);
void subscriptions_list(struct exchange *exchange);
void subscriptions_locations(struct exchange *exchange);
void tenants_list(struct exchange *exchange);
void providers_get(struct exchange *exchange); /* and register */
void providers_list(struct exchange *exchange);

/* groups.c */
void groups_get(struct exchange *exchange);
void groups_head(struct exchange *exchange);
void groups_put(struct exchange *exchange); /* of one that is not there, too */
void groups_patch(struct exchange *exchange);
void groups_delete(struct exchange *exchange);
void groups_export_template(struct exchange *exchange);
void groups_list(struct exchange *exchange);

/* skus.c */
void skus_list(struct exchange *exchange);

/* usages.c */
void usages_list(struct exchange *exchange);
void vm_sizes_list(struct exchange *exchange);

/* absent.c */
void absent_list(struct exchange *exchange);
void absent_get(struct exchange *exchange);
void absent_put(struct exchange *exchange);
void absent_delete(struct exchange *exchange);

/* entra.c; these need no token */
void entra_token(struct exchange *exchange);
void entra_token_v1(struct exchange *exchange);
void entra_openid_configuration(struct exchange *exchange);
void entra_instance_discovery(struct exchange *exchange);
void metadata_endpoints(struct exchange *exchange);

/* imds.c */
void imds_handle(struct exchange *exchange);
