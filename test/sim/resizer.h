/* resizer.h - external-resizer: calls ControllerExpandVolume when a claim asks for more than its
 * PersistentVolume has, and again until it succeeds.
 *
 * The size is the claim's of that moment: its owner may have taken some of it back.
 */
#pragma once

struct volume;

/* A task of the sim that goes with a bound volume for as long as its claim is there. */
void resizer_start(struct volume *volume);
