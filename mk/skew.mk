# make skew   the programs of two releases together on a cluster, this tree's and the last one's
#             (test/skew); PREVIOUS=v1.2.3 that one's, or those of any revision

PREVIOUS ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
BEFORE := $(BUILD)/before

.PHONY: skew
skew: setup cluster-tools programs
	@[ "$(PREVIOUS)" ] || { echo "there is no release yet to compare with: make skew PREVIOUS=<revision>" >&2; exit 1; }
	@rm -rf $(BEFORE) && mkdir -p $(BEFORE)
	@git archive $(PREVIOUS) | tar -x -C $(BEFORE)
	@$(MAKE) -C $(BEFORE) programs VERSION=$(VERSION)-before
	@BEFORE=$(abspath $(BEFORE)) PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider \
	    test/skew/mixed_releases.py
