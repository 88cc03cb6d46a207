/* quiet_network.h - a network namespace that no event of the kernel reaches.
 *
 * The kernel tells of its devices in the network namespaces of the initial user namespace only. A
 * socket stays in the namespace that it was made in, so a test enters for as long as it makes those
 * that are to hear nothing.
 */
#pragma once

/* The calling thread's own network, for the way back. */
int quiet_network_enter(void);
void quiet_network_leave(int own);
