# make docs   the reference pages in docs/, from the programs, the chart and the tables in the sources

.PHONY: docs
docs: programs $(PYTHON)
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m docs
