# make          everything, into build/; DEVELOPER=1 makes warnings errors
# make setup    installs what is missing; PACKAGES=build only what that takes
# make test     all tests; ends with "N passed, N failed"
# make nightly  what takes a night: many new seeds, all mutants, scale, bench, long fuzzing
# make demo     the main job on a real cluster; KEEP=1 leaves it up, PLACEMENT=nominate by a stock kube-scheduler
# make bench    calls, time and memory under load; BENCH=a only that scenario
# make guest    what only a kernel of its own shows: disks that come, grow and go (test/guest)
# make fence    failovers of a fenced volume, 20 rounds: one writer, nothing lost; ROUNDS=200, SEED=7
# make conformance  Kubernetes' own suite for storage drivers, against this one; FOCUS=volume-expand only that
# make skew     the programs of two releases together on a cluster; PREVIOUS=v1.2.3
# make install  the programs, into $(DESTDIR)$(PREFIX)/bin; uninstall takes them away
# make image    the container image, build/image.tar; IMAGE=name:tag, ARCHITECTURE=arm64. sim-image: the simulation's
# make release  what users fetch, into build/release: image, chart, azdiskctl, checksums; KEY=FILE signs
# make lint     layers, format, static analysis
# make unit     unit tests; UNIT=lib/rt only those below a path, ARCHITECTURE=arm64. unit-mutants: do they find mutants?
# make sim      the controller in simulated clusters; SEEDS=20000, SEED=17 with a trace
# make fuzz     every reader of outside input under libFuzzer; TIME=60 seconds each, TARGET=yaml
# make distributions  the programs, compiled in container roots of other releases of Debian
# make crds     crds/ and its copy in the chart, from lib/api/azdisk.proto
# make docs     the reference pages in docs/
# make site     all pages of docs/ as a site, in build/site
# make pictures  docs/pictures/dashboard-*.svg: the dashboards, with what a cluster of their own has to show
# make clean    removes build/

BUILD := build
VERSION ?= 0.1.0
.DEFAULT_GOAL := all

# Goals for another architecture are made in a container root, by this Makefile again.
ARCHITECTURE ?=
NATIVE = $(shell dpkg --print-architecture)

include mk/python.mk
ifneq ($(filter-out $(NATIVE),$(ARCHITECTURE)),)
include mk/cross.mk
else
include mk/flags.mk
include mk/setup.mk
include mk/build.mk
include mk/lint.mk
include mk/test.mk
include mk/install.mk
include mk/image.mk
include mk/release.mk
include mk/demo.mk
include mk/bench.mk
include mk/conformance.mk
include mk/skew.mk
include mk/crds.mk
include mk/docs.mk
include mk/site.mk
include mk/sim.mk
include mk/fuzz.mk
include mk/distributions.mk
include mk/nightly.mk

.PHONY: all clean
all: programs

clean:
	rm -rf $(BUILD)
endif
