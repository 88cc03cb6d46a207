# make release        what users fetch, into build/release (release/): the image and what is in it, the chart, azdiskctl,
#                     checksums; VERSION=1.2.3, KEY=FILE signs the checksums
# make reproducible   all of it twice, in two folders: are both the same?

KEY ?=
RELEASE := $(BUILD)/release
AGAIN := $(BUILD)/again

.PHONY: release reproducible
release: image
	@PYTHONDONTWRITEBYTECODE=1 python3 -m release $(VERSION) $(RELEASE) $(KEY)

reproducible: release
	@rm -rf $(AGAIN) && mkdir $(AGAIN)
	@tar -c --exclude=./build --exclude=./.git . | tar -x -C $(AGAIN)
	@$(MAKE) -C $(AGAIN) release VERSION=$(VERSION) >$(AGAIN)/log 2>&1 || { cat $(AGAIN)/log; exit 1; }
	@cmp $(RELEASE)/SHA256SUMS $(AGAIN)/build/release/SHA256SUMS
	@echo "two builds are equal"
	@rm -rf $(AGAIN)
