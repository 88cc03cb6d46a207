# What is built from what. Every object may exist in three variants (mk/flags.mk).

# A library is a folder; its *.c and *.proto become one archive. They are listed from the lowest
# layer up and linked in reverse, so that a call upwards does not link.
LIBRARIES := lib/base lib/rt lib/json lib/api lib/http lib/rpc lib/kube \
    provisioner-lib provisioner-lib/records provisioner-lib/azure provisioner-lib/host \
    provisioner-lib/placement provisioner-lib/audit lib/program
# These are above them, for programs of test/ only. The simulation (test/sim) runs the controller's
# own code, all but its main.c.
TEST_LIBRARIES := test/azsim/model test/azsim/arm test/sim/kube

# A program is name:folder, the folder with its main.c.
PROGRAMS := \
    azdisk-controller:controller \
    azdisk-node:node \
    azdisk-scheduler-extender:scheduler-extender \
    azdisk-probe:probe \
    azdiskctl:azdiskctl \
    azsim:test/azsim \
    azdisk-sim:test/sim

# The simulation's json_parse() is in test/sim/known_json.c, its json_to_text() in written_json.c and
# its token_read() in known_token.c; a call from the file that has the function itself goes past them.
# Sanitizers have an allocator of their own.
LDFLAGS_azdisk-sim := $(foreach name,json_parse json_to_text token_read, \
    -Wl,--wrap=$(name),--undefined=__wrap_$(name))
LIBS_plain_azdisk-sim := -Wl,--no-as-needed -lmimalloc

LIBS := -luv -lcurl -lmicrohttpd -lgnutls -lssl -lcrypto -lgrpc_unsecure -lgpr -ljansson -lprotobuf-c \
    -lyaml -lmount -lblkid -lpthread -lm

# In what is shipped gRPC is linked from its archives, which come before LIBS: 3 MiB less resident
# memory than with its shared libraries, of which there are 50. (grpc_unsecure.pc forgets the last.)
ARCHIVES_plain = -static-libgcc -Wl,-Bstatic -Wl,--start-group \
    $(filter -lgrpc% -lgpr% -labsl%,$(sort $(shell pkg-config --static --libs grpc_unsecure))) \
    -lupb -laddress_sorting -lre2 -lcares -lz -lstdc++ -Wl,--end-group -Wl,-Bdynamic

# ---- the lists, taken apart ----

program_name = $(word 1,$(subst :, ,$(1)))
program_folder = $(word 2,$(subst :, ,$(1)))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
up_to = $(if $(2),$(firstword $(2)) $(if $(filter $(1),$(firstword $(2))),, \
    $(call up_to,$(1),$(wordlist 2,99,$(2)))))

# A program that has no main.c yet is not built; its other files are, for their tests.
has_main = $(wildcard $(call program_folder,$(1))/main.c)
BUILT_PROGRAMS := $(foreach p,$(PROGRAMS),$(if $(call has_main,$(p)),$(p)))
FOLDERS := $(LIBRARIES) $(TEST_LIBRARIES) $(foreach p,$(PROGRAMS),$(call program_folder,$(p)))
UNIT_FOLDERS := $(patsubst %/,%,$(sort $(dir $(shell find test/unit -type f))))

# Protobuf's own types that csi.proto uses; they go into lib/api.
WELL_KNOWN := google/protobuf/timestamp.proto google/protobuf/wrappers.proto
vpath google/%.proto /usr/include

# (folder): what of it goes into its archive; of some programs, the files in their rooms, too.
WITH_ROOMS := controller azdiskctl
sources = $(filter-out %/main.c $(1)/test_%.c, \
    $(wildcard $(1)/*.c $(if $(filter $(WITH_ROOMS),$(1)),$(1)/*/*.c)))
protos = $(wildcard $(1)/*.proto) $(if $(filter lib/api,$(1)),$(WELL_KNOWN))

# (variant, folder): the same as objects; its archive with all that its code may call, highest layer
# first.
objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(call sources,$(2))) \
    $(patsubst %.proto,$(BUILD)/$(1)/gen/%.pb-c.o,$(call protos,$(2)))
archives = $(patsubst %,$(BUILD)/$(1)/%.a,$(call reverse,$(call up_to,$(2),$(call layers,$(2)))))
program_of = $(if $(filter controller/%,$(1)),controller,$(1))
layers = $(LIBRARIES) $(if $(filter test/%,$(1)),$(TEST_LIBRARIES)) \
    $(if $(filter test/sim,$(1)),controller) \
    $(filter-out $(LIBRARIES) $(TEST_LIBRARIES),$(1))

# ---- generated: protobuf-c sources of every .proto ----

PROTOS := $(foreach f,$(FOLDERS) $(UNIT_FOLDERS),$(call protos,$(f)))
VM_SIZES := $(BUILD)/gen/provisioner-lib/azure/vm_sizes.inc
GENERATED_HEADERS := $(PROTOS:%.proto=$(BUILD)/gen/%.pb-c.h) $(VM_SIZES)

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: %.proto | $(call packages,build)
	@mkdir -p $(BUILD)/gen
	@protoc-c --proto_path=. --proto_path=/usr/include --c_out=$(BUILD)/gen $<

# The table of VM sizes as rows of C: {"series", "number:disks ..."},
$(VM_SIZES): provisioner-lib/azure/vm_sizes.txt
	@mkdir -p $(@D)
	@sed -n 's/^\([^# ][^ ]*\) \(.*\)/{"\1", "\2"},/p' $< >$@

.SECONDARY: $(GENERATED_HEADERS:.h=.c) $(GENERATED_HEADERS)

# ---- objects, archives and programs of a variant ----

# What a variant's packages are for.
NEEDS_plain := build
NEEDS_checked := build unit
NEEDS_fuzz := build test

# Other flags or another compiler make every object anew; not -Werror, with which they are the same.
define variant
flags_$(1) := $(strip $(CC_$(1)) $(CFLAGS_$(1)) $(WARNINGS))
former_flags_$(1) := $$(strip $$(file <$(BUILD)/$(1)/flags))
ifneq ($$(flags_$(1)),$$(former_flags_$(1)))
$$(shell mkdir -p $(BUILD)/$(1))
$$(file >$(BUILD)/$(1)/flags,$$(flags_$(1)))
endif

$(BUILD)/$(1)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/$(1)/flags | $(GENERATED_HEADERS) $(call packages,$(NEEDS_$(1)))
	@mkdir -p $$(@D)
	@$$(CCACHE) $$(CC_$(1)) $$(CFLAGS_$(1)) -c $$< -o $$@

$(BUILD)/$(1)/%.o: %.c $(BUILD)/$(1)/flags | $(GENERATED_HEADERS) $(call packages,$(NEEDS_$(1)))
	@echo "$(1) $$<"
	@mkdir -p $$(@D)
	@$$(CCACHE) $$(CC_$(1)) $$(CFLAGS_$(1)) $$(WARNINGS) $$(if $$(DEVELOPER),-Werror) -c $$< -o $$@

$(foreach f,$(FOLDERS),$(call archive,$(1),$(f)))
$(foreach p,$(BUILT_PROGRAMS), \
    $(call program,$(1),$(call program_name,$(p)),$(call program_folder,$(p))))
endef

define archive
$(BUILD)/$(1)/$(2).a: $(call objects,$(1),$(2))
	@mkdir -p $$(@D)
	@rm -f $$@
	@$(AR) crsD $$@ $$^

endef

# The linker's inputs are noted beside it: whose archives are in it (image/driver.py).
define program
$(BUILD)/$(1)/bin/$(2): $(BUILD)/$(1)/$(3)/main.o $(call archives,$(1),$(3))
	@echo "$(1) $$@"
	@mkdir -p $$(@D)
	@$$(CC_$(1)) $$(LDFLAGS_$(1)) $$(LDFLAGS_$$(@F)) -o $$@ $$^ $$(ARCHIVES_$(1)) $$(LIBS) \
	    $$(LIBS_$(1)_$$(@F)) -Wl,--dependency-file=$$@.inputs

endef

$(eval $(call variant,plain))
$(eval $(call variant,checked))
$(eval $(call variant,fuzz))

# The shipped programs, stripped; their symbols stay in $(BUILD)/plain/bin.
$(BUILD)/bin/%: $(BUILD)/plain/bin/%
	@mkdir -p $(@D)
	@$(STRIP) -o $@ $<

# The simulation is no program for users: it runs from where it is linked.
PROGRAM_NAMES := $(foreach p,$(BUILT_PROGRAMS),$(call program_name,$(p)))
SIM := $(BUILD)/plain/bin/azdisk-sim

$(SIM): | $(call packages,test)

.PHONY: programs checked-programs
programs: $(patsubst %,$(BUILD)/bin/%,$(filter-out $(notdir $(SIM)),$(PROGRAM_NAMES)))
checked-programs: $(PROGRAM_NAMES:%=$(BUILD)/checked/bin/%)

-include $(shell find $(BUILD)/plain $(BUILD)/checked $(BUILD)/fuzz -name '*.d' 2>/dev/null)
