/* service.h - CSI's Controller service. Every replica of the controller serves it: a call writes
 * its request into custom resources, and the leader's reconcilers record the result there.
 */
#pragma once

#include "controller/controller.h"
#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"

/* A row for rpc_server_config.services. */
struct rpc_service csi_controller_service(struct controller *controller);

/* The calls, each in a file of its name; the context is the controller. */
rpc_handler csi_create_volume, csi_delete_volume, csi_list_volumes, csi_publish_volume,
    csi_unpublish_volume, csi_expand_volume, csi_modify_volume, csi_validate_volume_capabilities,
    csi_create_snapshot, csi_delete_snapshot, csi_list_snapshots, csi_get_snapshot;

/* ---- for these files ---- */

/* The AzVolume with this id, referenced; asks the API server if the cache does not have it. NULL
 * if there is none; PRECONDITION if the one of its name belongs to another disk. */
struct err *csi_find_volume(struct task *self, struct controller *controller, const char *volume_id,
                            struct kube_object **ret) __attribute__((warn_unused_result));

/* PRECONDITION if this AzVolume is known to belong to another disk than `volume_id`. Check again
 * after every wait. */
struct err *csi_check_disk(const struct controller *controller, const struct kube_object *object,
                           const char *volume_id) __attribute__((warn_unused_result));

/* The size of a disk with the capacity that is asked for, in GiB, rounded up. OUT_OF_RANGE if there
 * is no such size; `range` may be NULL. */
struct err *csi_size_of_range(const Csi__V1__CapacityRange *range, int64_t *ret_gib)
    __attribute__((warn_unused_result));

/* INVALID if there are secrets: `what` are made with the driver's own identity only, and never with
 * another than was asked for. The keys are said, the values not. `sidecar` and `class` say where
 * the secrets come from. Calls for what exists ignore secrets: what is meant is no question then,
 * and what was made for a class with secrets, by a version that ignored them, can be used and
 * deleted. */
struct err *csi_refuse_secrets(const struct parameter *secrets, size_t n, const char *what,
                               const char *sidecar, const char *class)
    __attribute__((warn_unused_result));

/* Does ControllerPublishVolume for the node of this attachment have its answer, by the cache? It is
 * of a primary then, as far as --publish-wait wants it; a replica is published nowhere. */
bool csi_is_published(const struct controller *controller, const struct kube_object *attachment);

/* Until when a call may wait for something and still have time to answer. */
uint64_t csi_wait_deadline(const struct rpc_call *call);

/* The answer to a caller whose wait has ended with this error: if its time is over, `trouble` says
 * why, which is on record of what was waited for; NULL: nothing is. */
struct err *csi_waited_in_vain(const Api__AzError *trouble, struct err *wait_err)
    __attribute__((warn_unused_result));

/* An error of the API server, for the caller of a call that makes something: most kinds would tell
 * it that nothing was made, or will be, of which a refusal (HTTP 401, 403, 422) says nothing.
 * NOT_FOUND, EXISTS and what passes by itself stay as they are; so does NULL. */
struct err *csi_api_error(struct err *err) __attribute__((warn_unused_result));

/* Waits until the object is gone from the store. Returns the recorded error if `failure` finds one,
 * which means that the object stays. */
typedef const Api__AzError *csi_failure_fn(const struct kube_object *object);
struct err *csi_wait_gone(struct task *self, const struct rpc_call *call, struct store *store,
                          const struct kube_object *object, csi_failure_fn *failure)
    __attribute__((warn_unused_result));
