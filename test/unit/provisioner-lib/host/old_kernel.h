/* old_kernel.h - for the rest of a test program the kernel is one of before Linux 5.1. */
#pragma once

/* System calls that came later answer ENOSYS, as they do there. */
void old_kernel_begin(void);
/* mount(2) refuses to change what is mounted: EPERM. */
void old_kernel_refuse_remounts(void);
