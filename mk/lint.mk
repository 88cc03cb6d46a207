# The lints, each a target lint-*; `make lint` runs them all. Those that take long remember in
# $(BUILD)/lint what they have seen.

LINTS := layers banned borrowed shape format tidy cppcheck

C_FILES := $(sort $(shell find . \( -name '.?*' -o -path ./build \) -prune -o \
    -name '*.[ch]' -printf '%P\n'))
C_SOURCES := $(filter %.c,$(C_FILES))
LINT_CFLAGS := $(filter-out -g -MMD -MP,$(COMMON_CFLAGS)) $(WARNINGS) -Wno-unknown-warning-option

.PHONY: $(LINTS:%=lint-%)
$(LINTS:%=lint-%): | $(call packages,lint)

lint-layers lint-banned lint-borrowed lint-shape: lint-%:
	@python3 test/lint/$*.py

lint-format:
	@clang-format-14 --dry-run -Werror $(C_FILES)

# clang-tidy is the second compiler, too: what clang warns of is an error of the lint.
# A file is looked at again when it, what it includes or the configuration is newer than its stamp.
lint-tidy: $(C_SOURCES:%.c=$(BUILD)/lint/%.tidy)

$(BUILD)/lint/%.tidy: %.c .clang-tidy mk/flags.mk | $(GENERATED_HEADERS) $(call packages,lint)
	@mkdir -p $(@D)
	@clang-14 $(LINT_CFLAGS) -MM -MP -MT $@ -MF $@.d $<
	@clang-tidy-14 --quiet $< -- $(LINT_CFLAGS) 2>/dev/null
	@touch $@

-include $(shell find $(BUILD)/lint -name '*.tidy.d' 2>/dev/null)

# Not returnDanglingLifetime: it takes "return call(&local)" for a leak, whatever the call returns.
CPPCHECK_FLAGS := --quiet --error-exitcode=1 --enable=warning,performance,portability --std=c11 \
    --inline-suppr --suppress=returnDanglingLifetime --library=test/lint/cppcheck.cfg -I .

lint-cppcheck: $(BUILD)/lint/cppcheck.stamp

$(BUILD)/lint/cppcheck.stamp: $(C_FILES) test/lint/cppcheck.cfg
	@mkdir -p $(BUILD)/lint/cppcheck
	@cppcheck $(CPPCHECK_FLAGS) --cppcheck-build-dir=$(BUILD)/lint/cppcheck -j 2 $(C_SOURCES)
	@touch $@
