# Lints, unit tests and pytest suites, counted by test/run.py.

# Unit tests: test/unit mirrors the tree, and every test_*.c there is a program of its own. It is
# linked with the other files of its folder (those of the controller's rooms also with the
# controller's) and with what the mirrored folder may call.

# All, or those below a path: make unit UNIT=lib/rt
UNIT :=
UNIT_SOURCES := $(sort $(filter test/unit/$(UNIT)%,$(shell find test/unit -name 'test_*.c')))
UNIT_TESTS := $(UNIT_SOURCES:%.c=$(BUILD)/checked/%)

# With ARCHITECTURE these are compiled and not run: qemu does not pass on what they, or the tools that
# make their file systems, ask of a block device or of memory.
NOT_EMULATED := $(BUILD)/checked/test/unit/lib/base/test_secret \
    $(BUILD)/checked/test/unit/node/test_forgotten_mount \
    $(addprefix $(BUILD)/checked/test/unit/provisioner-lib/host/test_,copy fence filesystem_state \
    filesystem_uuid format format_mark host job mount partition probe staging usage)
EMULATED_UNIT_TESTS = $(filter-out $(if $(EMULATOR),$(NOT_EMULATED)),$(UNIT_TESTS))

# Certificates for tests are made in one place.
CERTIFICATE_TESTS := test/unit/lib/program

# These talk to the scripted API server of the tests of lib/kube.
SCRIPTED_API_TESTS := $(addprefix test/unit/controller/,attachment csi placement volume) test/unit/azdiskctl

# What is mounted is tested with the disks of the tests of provisioner-lib/host.
MOUNT_TESTS := test/unit/node

# The client of Azure is tested against the simulated one, in the test's own process.
AZURE_CLIENT_TESTS := test/unit/provisioner-lib/azure
AZURE_IN_PROCESS := $(call objects,checked,test/unit/test/azsim/arm) \
    $(patsubst %,$(BUILD)/checked/%.a,$(call reverse,$(TEST_LIBRARIES)))

# (test without .c, its folder)
define unit_test
$(BUILD)/checked/$(1): $(BUILD)/checked/$(1).o $(call objects,checked,$(2)) \
    $(if $(filter test/unit/controller/%,$(2)),$(call objects,checked,test/unit/controller)) \
    $(if $(filter $(AZURE_CLIENT_TESTS),$(2)),$(AZURE_IN_PROCESS)) \
    $(if $(filter $(SCRIPTED_API_TESTS),$(2)),$(call objects,checked,test/unit/lib/kube)) \
    $(if $(filter $(CERTIFICATE_TESTS),$(2)),$(call objects,checked,test/unit/lib/http)) \
    $(if $(filter $(MOUNT_TESTS),$(2)),$(call objects,checked,test/unit/provisioner-lib/host)) \
    $(call archives,checked,$(call program_of,$(2:test/unit/%=%)))
	@$$(CC) $$(LDFLAGS_checked) -o $$@ $$^ $$(LIBS) -lcmocka

endef

$(eval $(foreach t,$(UNIT_SOURCES:.c=),$(call unit_test,$(t),$(patsubst %/,%,$(dir $(t))))))

# Programs that integration tests run, one file each, with all of lib/ and what is simulated.
PROBES := $(patsubst %.c,$(BUILD)/checked/%,$(wildcard test/integration/*.c))

$(PROBES): %: %.o $(call archives,checked,test/sim/kube)
	@$(CC) $(LDFLAGS_checked) -o $@ $^ $(LIBS)

# What is run is built by test/run.py, so that what does not compile is counted too. Whether a warning is
# right is asked of this machine's compilers. Where ccache is installed, as it is by make test, what another
# checkout has compiled is not compiled again.
RUN := CCACHE="$$(command -v ccache)" MAKEFLAGS='$(MAKEOVERRIDES)' DEVELOPER=$(if $(EMULATOR),,1) PYTHONDONTWRITEBYTECODE=1

.PHONY: unit-programs test-programs test guest fence unit unit-mutants lint
unit-programs: $(UNIT_TESTS)
test-programs: unit-programs programs checked-programs $(SIM) $(PROBES) fuzz-programs

test: setup suite-tools
	@$(RUN) $(PYTHON) test/run.py --build test-programs --lints "$(LINTS)" \
	    --units "$(UNIT_TESTS)" --suites --report $(BUILD)/reports/test.json

guest: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider test/guest

# ROUNDS=200 more of them, SEED=7 others.
ROUNDS :=
fence: setup cluster-tools programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 ROUNDS=$(ROUNDS) SEED=$(SEED) $(PYTHON) -m pytest -q -p no:cacheprovider \
	    test/guest/test_rounds.py

unit: | $(call packages,unit)
	@$(RUN) python3 test/run.py --build unit-programs --units "$(EMULATED_UNIT_TESTS)"

# Whether the unit tests find what was broken on purpose, below UNIT or everywhere.
unit-mutants: | $(call packages,test)
	@PYTHONPATH=test $(RUN) python3 -m unit.mutants $(UNIT) --report $(BUILD)/reports/unit-mutants.json

lint: | $(call packages,lint)
	@$(RUN) python3 test/run.py --lints "$(LINTS)"
