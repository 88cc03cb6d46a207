/* What clients ask a VM to do beside attaching and detaching: its power, and what concerns its
 * guest.
 *
 * Nothing is run in a guest; whoever asks for it is told that it went well and gave no output.
 */
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"

static void act(struct exchange *exchange, enum operation_kind kind)
{
    struct vm *vm = vm_of_path(exchange);
    struct operation *operation;

    if (!vm)
        return;
    struct refusal *refusal = vm_act(vm, kind, &operation);
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, true);
    answer(exchange, 202, NULL);
}

void vms_start(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_START);
}

void vms_power_off(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_POWER_OFF);
}

enum operation_kind deallocation_asked_for(const struct exchange *exchange)
{
    const char *hibernate = exchange_argument(exchange, "hibernate");

    return hibernate && strcasecmp(hibernate, "true") == 0 ? OPERATION_VM_HIBERNATE
                                                           : OPERATION_VM_DEALLOCATE;
}

void vms_deallocate(struct exchange *exchange)
{
    act(exchange, deallocation_asked_for(exchange));
}

void vms_reapply(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_REAPPLY);
}

/* What is not there is gone already. */
void vms_delete(struct exchange *exchange)
{
    struct vm *vm = NULL;
    CLEANUP(refusal_freep) struct refusal *refusal = vm_find_of_path(exchange, &vm);

    if (refusal) {
        answer(exchange, 204, NULL);
        return;
    }
    exchange_note_vm(exchange, vm);
    operation_headers(exchange, vm_delete(vm), true);
    answer(exchange, 202, NULL);
}

/* ---- in the guest ---- */

void vms_run_command(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_RUN_COMMAND);
}

void vms_assess_patches(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_ASSESS_PATCHES);
}

void vms_install_patches(struct exchange *exchange)
{
    act(exchange, OPERATION_VM_INSTALL_PATCHES);
}

json_t *vm_run_command_json(void)
{
    return json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "value", "code", "ProvisioningState/succeeded",
                     "level", "Info", "displayStatus", "Provisioning succeeded", "message",
                     "Enable succeeded: \n[stdout]\n\n[stderr]\n");
}

json_t *vm_patches_json(const struct operation *operation)
{
    bool assesses = operation->kind == OPERATION_VM_ASSESS_PATCHES;
    json_t *json =
        json_pack("{s:s, s:s, s:b, s:o, s:[]}", "status", "Succeeded",
                  assesses ? "assessmentActivityId" : "installationActivityId", operation->id,
                  "rebootPending", 0, "startDateTime", azure_time_json(operation->start_us),
                  assesses ? "availablePatches" : "patches");

    if (assesses) {
        json_object_set_new(json, "criticalAndSecurityPatchCount", json_integer(0));
        json_object_set_new(json, "otherPatchCount", json_integer(0));
    } else {
        json_object_set_new(json, "rebootStatus", json_string("NotNeeded"));
    }
    return json;
}

void vms_boot_diagnostics(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (!vm)
        return;
    answer(exchange, 200,
           json_pack("{s:o, s:o}", "consoleScreenshotBlobUri",
                     json_sprintf("https://md-%.8s.z1.blob.storage.azure.net/%s/screenshot.bmp",
                                  vm->vm_id, vm->vm_id),
                     "serialConsoleLogBlobUri",
                     json_sprintf("https://md-%.8s.z1.blob.storage.azure.net/%s/serialconsole.log",
                                  vm->vm_id, vm->vm_id)));
}

void vms_generalize(struct exchange *exchange)
{
    struct vm *vm = vm_of_path(exchange);

    if (!vm)
        return;
    struct refusal *refusal = vm_generalize(vm);
    if (refusal)
        answer_refusal(exchange, refusal);
    else
        answer(exchange, 200, NULL);
}

/* ---- what our VMs are not ---- */

void vms_capture(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_refusal(exchange, vm->is_generalized ? refuse(CAPTURE_MANAGED_DISKS)
                                                    : refuse(CAPTURE_NOT_GENERALIZED));
}

void vms_convert_to_managed_disks(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_refusal(exchange, refuse(DISKS_ARE_MANAGED, vm->name));
}

void vms_perform_maintenance(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_refusal(exchange, refuse(NOT_ELIGIBLE, "performMaintenance", vm->name));
}

void vms_reimage(struct exchange *exchange)
{
    if (vm_of_path(exchange))
        answer_refusal(exchange, refuse(REIMAGE_NEEDS_UPGRADES));
}

void vms_simulate_eviction(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_refusal(exchange, refuse(NOT_SPOT, vm->name));
}

void vms_migrate(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_refusal(exchange, refuse(NOT_IN_AVAILABILITY_SET, vm->name));
}
