# make conformance   Kubernetes' own suite for storage drivers against this one (test/conformance); FOCUS=volume-expand
# only the specs whose names have that, PROCS=4 how many at the same time

.PHONY: conformance
conformance: setup suite-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 FOCUS='$(FOCUS)' PROCS=$(PROCS) $(PYTHON) -m conformance
