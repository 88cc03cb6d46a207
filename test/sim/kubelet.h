/* kubelet.h - kubelet on a simulated machine: brings the volumes of its pods up and down.
 *
 * Each pod has a worker, a task of the sim. It says that the volumes are in use, waits until they
 * are attached as VolumeAttachment and node.status.volumesAttached say, stages and publishes them,
 * and runs the pod; when the pod is deleted, or gone, and that can be heard, it takes everything
 * down again. What fails is tried again, ever less often. Workers end with the machine's power.
 * For a pod that is being deleted when its worker begins, nothing is brought up.
 */
#pragma once

struct machine;
struct pod;

/* A pod was bound to its machine. */
void kubelet_start_pod(struct pod *pod);
/* The machine has booted: the pods that it should run get their workers. */
void kubelet_start(struct machine *machine);
/* It is restarted: what it was bringing up it no longer knows of, and begins anew for pods that are
 * to stay. */
void kubelet_restart(struct machine *machine);
/* The machine has lost its power. */
void kubelet_die(struct machine *machine);
