/* fiber_switch.h - from one stack to another, for tasks only.
 *
 * swapcontext() sets the signal mask, which costs two system calls for each switch, though the mask
 * is the same on all stacks of a scheduler: a stack is entered by setcontext() the first time, and
 * by _longjmp() from then on. AddressSanitizer forgets what it knows of a stack that is left by
 * _longjmp(), so with sanitizers it is swapcontext() always.
 *
 * Whoever includes this must not have _FORTIFY_SOURCE: its _longjmp() takes every other stack for
 * an error.
 */
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <ucontext.h>

#include "lib/rt/fiber_sanitizer.h"

struct fiber {
    ucontext_t context; /* of the first time */
    jmp_buf registers;
    bool left; /* `registers` are where it goes on */
};

#if defined(FIBER_ADDRESS_SANITIZER) || defined(FIBER_THREAD_SANITIZER)

FIBER_INLINE void fiber_switch(struct fiber *from, struct fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#else

#ifdef __USE_FORTIFY_LEVEL
_Static_assert(__USE_FORTIFY_LEVEL == 0, "_longjmp() would abort");
#endif

/* Returns when somebody switches back. */
static void fiber_switch(struct fiber *from, struct fiber *to)
{
    from->left = true;
    if (_setjmp(from->registers))
        return;
    if (to->left)
        _longjmp(to->registers, 1);
    setcontext(&to->context);
}

#endif
