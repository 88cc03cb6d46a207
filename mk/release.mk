# make release        what users fetch, into build/release (release/): for amd64 and arm64 the image, what is in it, and
#                     azdiskctl; the chart, checksums; VERSION=1.2.3, KEY=FILE signs the checksums, ALSO= only
#                     for this machine's architecture, without being root
# make reproducible   all of it twice, in two folders: are both the same?

KEY ?=
ALSO ?= $(filter-out $(NATIVE),amd64 arm64)
RELEASE := $(BUILD)/release
AGAIN := $(BUILD)/again

.PHONY: release reproducible
release: image $(ALSO:%=release-for-%)
	@PYTHONDONTWRITEBYTECODE=1 python3 -m release $(VERSION) $(RELEASE) $(if $(KEY),--key $(KEY)) \
	    $(if $(ALSO),--also $(ALSO:%=$(BUILD)/%/release))

release-for-%:
	@mk/step.sh "release for $*" $(MAKE) release ARCHITECTURE=$* ALSO= KEY= VERSION=$(VERSION)

reproducible: release
	@rm -rf $(AGAIN) && mkdir $(AGAIN)
	@tar -c --exclude=./build --exclude=./.git . | tar -x -C $(AGAIN)
	@$(MAKE) -C $(AGAIN) release VERSION=$(VERSION) ALSO="$(ALSO)" >$(AGAIN)/log 2>&1 || { cat $(AGAIN)/log; exit 1; }
	@cmp $(RELEASE)/SHA256SUMS $(AGAIN)/build/release/SHA256SUMS
	@echo "two builds are equal"
	@rm -rf $(AGAIN)
