# make demo   the main job on a real cluster (test/demo); KEEP=1 leaves the cluster up, PLACEMENT is
# the chart's placement.mode: with nominate, kube-scheduler runs as it comes

PLACEMENT := extender

.PHONY: demo
demo: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 KEEP=$(KEEP) PLACEMENT=$(PLACEMENT) $(PYTHON) -m demo

# make pictures   docs/pictures/dashboard-*.svg: the dashboards, of a cluster in which things happen (test/monitoring)

.PHONY: pictures
pictures: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m monitoring
