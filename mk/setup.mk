# make setup                   installs what is missing: Debian packages, the Python of the tests
# make setup PACKAGES=build    only what is for that: build, image, unit, lint, test, cluster, roots

PACKAGES := build image lint test cluster
demo pictures bench bench-placement conformance skew: PACKAGES := build cluster
nightly: PACKAGES += roots

# The goals that may install. Under any other, what is missing is named.
INSTALLING := $(filter setup demo pictures test guest bench bench-placement conformance skew nightly,$(MAKECMDGOALS))

.PHONY: setup install-packages cluster-tools suite-tools
setup: install-packages $(if $(filter test cluster,$(PACKAGES)),$(PYTHON))

install-packages:
	@mk/packages.sh install $(PACKAGES)

# (purposes): an order-only prerequisite of what needs their packages, looked for once.
packages = $(1:%=$(BUILD)/packages/%)

$(call packages,build image unit lint test cluster roots): $(BUILD)/packages/%: mk/debian-packages.txt | $(if $(INSTALLING),install-packages)
	@CC='$(CC)' mk/packages.sh check $*
	@mkdir -p $(@D)
	@touch $@

$(PYTHON): | $(if $(INSTALLING),install-packages)
	@$(if $(INSTALLING),mk/step.sh "Python environment" sh -c '$(MAKE_PYTHON)', \
	    echo 'The Python environment of the tests is missing: "make setup" makes it.' >&2; exit 1)

# Kubernetes and what belongs to it, from source; minutes the first time.
cluster-tools: $(PYTHON)
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -c 'from cluster import tools; tools.build()'

# Kubernetes' own end-to-end suite, and the driver that users move from.
suite-tools: cluster-tools
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -c 'from cluster import tools; tools.build(tools.SUITE); tools.build(tools.VERSION_1)'
