# make bench   what the driver asks of Azure under load, how fast and with what memory (test/bench);
# BENCH=bc only some of the scenarios a, b, c and d

.PHONY: bench
bench: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 BENCH=$(BENCH) $(PYTHON) -m bench
