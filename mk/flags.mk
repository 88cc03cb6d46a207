# How C is compiled. Every object exists in two variants: `plain`, which is shipped, and `checked`,
# which tests run and which carries the sanitizers of SANITIZE.

ifeq ($(origin CC),default)
CC := gcc
endif
SANITIZE ?= address,undefined

WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes \
    -Wwrite-strings -Wpointer-arith -Wformat=2 -Wcast-qual -Wundef -Werror
# gcc 12 takes an element on the stack that is in a list while its function runs for a leak.
WARNINGS += $(if $(findstring clang,$(CC)),,-Wno-dangling-pointer)
COMMON_CFLAGS := -std=gnu17 -D_GNU_SOURCE -I. -I$(BUILD)/gen -fno-common -g -MMD -MP \
    -DVERSION='"$(VERSION)"' -ffile-prefix-map=$(CURDIR)/=

CFLAGS_plain := $(COMMON_CFLAGS) -O2 -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
    -fstack-clash-protection -ffunction-sections -fdata-sections -Wframe-larger-than=4096
LDFLAGS_plain := -pie -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,--as-needed

CFLAGS_checked := $(COMMON_CFLAGS) -O1 -fno-omit-frame-pointer \
    $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
LDFLAGS_checked := $(if $(SANITIZE),-fsanitize=$(SANITIZE)) -Wl,--as-needed
