# How C is compiled. There are three variants of objects: `plain`, which is shipped, `checked`, which
# tests run and which carries the sanitizers of SANITIZE, and `fuzz`, which libFuzzer runs.

# CROSS_COMPILE is what the names of another architecture's compiler and tools begin with.
CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
STRIP := $(CROSS_COMPILE)strip
AR := $(CROSS_COMPILE)ar
CC_plain = $(CC)
CC_checked = $(CC)
CC_fuzz := clang-14
# What goes before a compiler that compiles, if anything: ccache, for the tests (mk/test.mk).
CCACHE ?=
# The unit tests of another architecture (mk/cross.sh) run without.
SANITIZE ?= $(if $(EMULATOR),,address,undefined)

# Warnings are errors only with DEVELOPER=1, as for the tests: another compiler may know new ones.
DEVELOPER ?=
WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
    -Wwrite-strings -Wpointer-arith -Wformat=2 -Wcast-qual -Wundef
# gcc 12 takes an element on the stack that is in a list while its function runs for a leak.
WARNINGS += $(if $(findstring clang,$(CC)),,-Wno-dangling-pointer)
COMMON_CFLAGS := -std=gnu17 -D_GNU_SOURCE -I. -I$(BUILD)/gen -fno-common -g -MMD -MP \
    -DVERSION='"$(VERSION)"' -ffile-prefix-map=$(CURDIR)=.

CFLAGS_plain := $(COMMON_CFLAGS) -O2 -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
    -fstack-clash-protection -ffunction-sections -fdata-sections -Wframe-larger-than=4096 $(CFLAGS)
LDFLAGS_plain := -pie -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,--as-needed $(LDFLAGS)

CFLAGS_checked := $(COMMON_CFLAGS) -O1 -fno-omit-frame-pointer \
    $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
LDFLAGS_checked := $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,--as-needed

# Line tables only, and no warnings that only gcc knows: what is to be seen is where it crashed.
CFLAGS_fuzz := $(COMMON_CFLAGS) -O1 -gline-tables-only -fno-omit-frame-pointer \
    -Wno-unknown-warning-option -fsanitize=fuzzer-no-link,address,undefined \
    -fno-sanitize-recover=all
LDFLAGS_fuzz := -fsanitize=fuzzer,address,undefined -Wl,--as-needed
