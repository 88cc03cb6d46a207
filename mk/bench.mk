# make bench   what the driver asks of Azure under load, how fast and with what memory (test/bench);
# BENCH=bc only some of the scenarios a to h; DRAWS=3 of what depends on luck the median of three

.PHONY: bench
bench: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 BENCH=$(BENCH) DRAWS=$(DRAWS) $(PYTHON) -m bench

# make bench-placement   where pods of drained nodes land among 5,000 nodes, by a stock kube-scheduler, and
# among 1,000 with other releases of Kubernetes; build/reports/placement.json
.PHONY: bench-placement
bench-placement: setup cluster-tools programs checked-programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider \
	    test/integration/bench_placement.py
