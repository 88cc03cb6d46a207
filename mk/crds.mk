# make crds   crds/ and the chart's copy of it, from lib/api/azdisk.proto

.PHONY: crds
crds: $(PYTHON)
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m api.make_crds
