# make bench   what the driver asks of Azure under load, how fast and with what memory (test/bench);
# BENCH=bc only some of the scenarios a to h; DRAWS=3 of what depends on luck the median of three

.PHONY: bench
bench: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 BENCH=$(BENCH) DRAWS=$(DRAWS) $(PYTHON) -m bench
