/* object_events.h - which reconcilers a change of an object concerns.
 *
 * Observes the informers' stores, and adds keys to the queues while this process leads.
 */
#pragma once

#include "controller/controller.h"

/* After informers_init, before informers_start. */
void object_events_start(struct controller *controller);

/* Adds every object to the queue that concerns it, for a leader that has just begun. */
void object_events_of_all(struct controller *controller);
