# make demo   the main job on a real cluster (test/demo); KEEP=1 leaves the cluster up

.PHONY: demo
demo: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 KEEP=$(KEEP) $(PYTHON) -m demo
