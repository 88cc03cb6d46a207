# make sim                whole controllers in simulated clusters, 200 scenarios (docs/simulation.md)
# make sim SEEDS=20000    so many; FIRST=1000 begins elsewhere, PROFILE=azure-down and
#                         WITH=azure-answer-lost say what happens, LANDSCAPE="uniform" in what cluster
# make sim SEED=17        one, with a trace of what happens; SHRINK=1 looks for the shortest history
# make sim-sanitized      under sanitizers, a twentieth of SEEDS, beginning at FIRST
# make sim-regressions    what once failed, under sanitizers
# make sim-scale          what a promotion costs among 10,000 volumes on 1,000 nodes, and the memory
# make sim-mutants        whether the simulation finds what was broken on purpose

SEEDS := 200
FIRST := 1
SEED :=
PROFILE :=
LANDSCAPE :=
WITH :=
SHRINK :=
SIM_FLAGS = $(if $(PROFILE),--profile=$(PROFILE)) $(if $(LANDSCAPE),--landscape="$(LANDSCAPE)") $(if $(WITH),--with=$(WITH)) \
    $(if $(SHRINK),--shrink --save=test/sim/regressions)

.PHONY: sim sim-sanitized sim-regressions sim-scale sim-mutants
sim: $(SIM)
	@mkdir -p $(BUILD)/reports
	@$(SIM) $(SIM_FLAGS) $(if $(SEED),--seed=$(SEED) $(if $(SHRINK),,--trace), \
	    --seeds=$(FIRST):$(shell expr $(FIRST) + $(SEEDS) - 1) --jobs=$(shell nproc) \
	    --report=$(BUILD)/reports/sim.json)
	@$(if $(SEED),,PYTHONPATH=test python3 -m sim.disk_changes $(BUILD)/reports/sim.json $(BUILD)/reports/grow.json)

sim-sanitized: $(BUILD)/checked/bin/azdisk-sim
	@$< --seeds=$(FIRST):$(shell expr $(FIRST) + $(SEEDS) / 20 - 1) --jobs=$(shell nproc)

sim-regressions: $(BUILD)/checked/bin/azdisk-sim
	@printf '%s\n' test/sim/regressions/*.json | xargs -P $(shell nproc) -I{} $< --incidents={}

sim-scale: $(SIM)
	@mkdir -p $(BUILD)/reports
	@$(SIM) --scale=1000:10000 --report=$(BUILD)/reports/scale.json

sim-mutants: $(PYTHON)
	@PYTHONPATH=test $(RUN) $(PYTHON) -m sim.mutants --report $(BUILD)/reports/mutants.json
