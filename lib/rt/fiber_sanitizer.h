/* fiber_sanitizer.h - tells AddressSanitizer and ThreadSanitizer when the stack changes; nothing
 * without them.
 *
 * Around a switch into a fiber: enter, fiber_switch, left. Around a switch out of it: leave,
 * fiber_switch, entered; entered is also the first thing that a new fiber calls. All are inlined
 * always: ThreadSanitizer counts the calls and returns of each stack, and a function that begins on
 * one stack and ends on another would confuse it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __has_feature /* clang */
#define FIBER_CLANG_HAS(sanitizer) __has_feature(sanitizer)
#else
#define FIBER_CLANG_HAS(sanitizer) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FIBER_CLANG_HAS(address_sanitizer)
#define FIBER_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#elif defined(__SANITIZE_THREAD__) || FIBER_CLANG_HAS(thread_sanitizer)
#define FIBER_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#if defined(FIBER_ADDRESS_SANITIZER) || defined(FIBER_THREAD_SANITIZER)
enum { FIBER_STACK_FACTOR = 8 }; /* instrumented frames are several times as large */
#else
enum { FIBER_STACK_FACTOR = 1 };
#endif

#define FIBER_INLINE static inline __attribute__((always_inline))

struct fiber_sanitizer {
    void *own;          /* fake stack, or ThreadSanitizer's fiber */
    void *caller;       /* the same of whoever entered */
    const void *bottom; /* of the caller's stack */
    size_t size;
};

FIBER_INLINE void fiber_sanitizer_init(struct fiber_sanitizer *f)
{
    *f = (struct fiber_sanitizer){0};
#ifdef FIBER_THREAD_SANITIZER
    f->own = __tsan_create_fiber(0);
#endif
}

/* Not from the fiber itself. */
FIBER_INLINE void fiber_sanitizer_fini(struct fiber_sanitizer *f)
{
#ifdef FIBER_THREAD_SANITIZER
    __tsan_destroy_fiber(f->own);
#endif
    (void)f;
}

/* Before a stack is used by another fiber: what was on it never returned. */
FIBER_INLINE void fiber_sanitizer_reuse(void *stack, size_t size)
{
#ifdef FIBER_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(stack, size);
#endif
    (void)stack, (void)size;
}

FIBER_INLINE void fiber_sanitizer_enter(struct fiber_sanitizer *f, const void *bottom, size_t size)
{
#if defined(FIBER_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&f->caller, bottom, size);
#elif defined(FIBER_THREAD_SANITIZER)
    f->caller = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->own, 0);
#endif
    (void)f, (void)bottom, (void)size;
}

FIBER_INLINE void fiber_sanitizer_left(struct fiber_sanitizer *f)
{
#ifdef FIBER_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(f->caller, NULL, NULL);
#endif
    (void)f;
}

FIBER_INLINE void fiber_sanitizer_leave(struct fiber_sanitizer *f, bool for_ever)
{
#if defined(FIBER_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(for_ever ? NULL : &f->own, f->bottom, f->size);
#elif defined(FIBER_THREAD_SANITIZER)
    __tsan_switch_to_fiber(f->caller, 0);
#endif
    (void)f, (void)for_ever;
}

FIBER_INLINE void fiber_sanitizer_entered(struct fiber_sanitizer *f)
{
#ifdef FIBER_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(f->own, &f->bottom, &f->size);
#endif
    (void)f;
}
