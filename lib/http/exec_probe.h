/* exec_probe.h - asks a program about its health over its Unix socket, as kubelet's exec probes do.
 *
 * Pods in the network of their node share its ports, and so would two of one Deployment on a node;
 * a socket in the pod's own folder is never in each other's way, and no stranger reaches it.
 */
#pragma once

/* GETs `path` from the server at the address (listen.h) and prints the answer's body. The exit
 * status of the probe: 0 if the answer is 200. */
int exec_probe(const char *address, const char *path);
