/* object_events.h - which reconcilers a changed object triggers.
 *
 * Observes the informers' stores, and adds keys to the queues while this process leads.
 */
#pragma once

#include "controller/controller.h"

/* Call after informers_init and before informers_start. */
void object_events_start(struct controller *controller);

/* Adds every object to its queue, for a new leader. */
void object_events_of_all(struct controller *controller);
