/* behaviour.h - the part of the control interface that says how Azure behaves.
 */
#pragma once

#include "test/azsim/visit.h"

void behaviour_get_latency(struct visit *visit);
void behaviour_patch_latency(struct visit *visit);
void behaviour_get_throttling(struct visit *visit);
void behaviour_patch_throttling(struct visit *visit);
void behaviour_get_faults(struct visit *visit);
void behaviour_post_fault(struct visit *visit);
void behaviour_delete_faults(struct visit *visit);
void behaviour_delete_fault(struct visit *visit);
void behaviour_get_settings(struct visit *visit);
void behaviour_patch_settings(struct visit *visit);
