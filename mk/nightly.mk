# make nightly   what takes a night, and what `make test` only samples: thousands of seeds that nobody
#                has run yet, some of them and all regressions under sanitizers, all mutants, the cost at
#                scale, the bench, Kubernetes' own suite for storage drivers, the chart by other releases of
#                Kubernetes, ten minutes of every fuzz target, and a release made twice; what fails does not
#                keep the rest from running
# make nightly NIGHT_SEEDS=1000 NIGHT_FUZZ=60   a short night

NIGHT_SEEDS := 40000
NIGHT_FUZZ := 600
NIGHTLY := sim sim-sanitized sim-regressions sim-scale sim-mutants unit-mutants bench bench-placement chart-releases conformance fence fuzz reproducible unit-arm64

# Other seeds every day, far from those of test/sim/test_sim.py.
.PHONY: nightly unit-arm64 chart-releases
nightly: setup
	@$(MAKE) -k $(NIGHTLY) SEEDS=$(NIGHT_SEEDS) FIRST=$(shell date +%Y%m%d)00000 TIME=$(NIGHT_FUZZ) DRAWS=3

unit-arm64:
	@$(MAKE) unit ARCHITECTURE=arm64

# The API servers of the oldest and the newest release of Kubernetes that the chart takes.
chart-releases: setup cluster-tools
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider \
	    test/integration/chart_of_releases.py
