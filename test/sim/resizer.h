/* resizer.h - external-resizer: calls ControllerExpandVolume when a claim asks for more than its
 * PersistentVolume has, and ControllerModifyVolume when it has got another VolumeAttributesClass,
 * and again until it succeeds.
 *
 * Size and class are the claim's of that moment: its owner may have changed his mind.
 */
#pragma once

struct volume;

/* Two tasks of the sim that go with a bound volume for as long as its claim is there. */
void resizer_start(struct volume *volume);
