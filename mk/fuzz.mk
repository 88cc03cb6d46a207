# make fuzz             every reader of outside input against inputs that libFuzzer makes up, an hour
#                       each (test/fuzz)
# make fuzz TIME=60     so many seconds each; TARGET=yaml only that one, JOBS=1 one at a time

TIME := 3600
TARGET :=
JOBS = $(shell nproc)

# A target is input:folder: test/fuzz/fuzz_<input>.c, linked with the archive of the folder that
# reads the input and with those below it.
FUZZ_TARGETS := \
    times:lib/base \
    json:lib/json yaml:lib/json \
    objects:lib/api \
    pem:lib/http \
    url:lib/rpc \
    selector:lib/kube kubeconfig:lib/kube watch:lib/kube \
    parameters:provisioner-lib \
    azure_config:provisioner-lib/azure endpoints:provisioner-lib/azure \
    resource_id:provisioner-lib/azure arm:provisioner-lib/azure token:provisioner-lib/azure \
    sku_file:provisioner-lib/azure \
    signature:provisioner-lib/host cgroup:provisioner-lib/host nvme_namespace:provisioner-lib/host \
    extender_args:scheduler-extender admission_review:scheduler-extender \
    attachment:node csi_node:node \
    csi_controller:controller \
    flags:azdiskctl switchover:azdiskctl redact:azdiskctl

# The disk of fuzz_signature is a file; what is logged is of no interest.
LDFLAGS_fuzz_signature := -Wl,--wrap=block_size
LDFLAGS_fuzz_arm := -Wl,--wrap=log_write
LDFLAGS_fuzz_csi_controller := -Wl,--wrap=log_write

# What several targets need, and not all.
FUZZ_SHARED := $(BUILD)/fuzz/test/fuzz/answers.a

$(FUZZ_SHARED): %.a: %.o
	@$(AR) crsD $@ $<

fuzz_program = $(BUILD)/fuzz/bin/fuzz_$(1)

define fuzz_target
$(call fuzz_program,$(1)): $(BUILD)/fuzz/test/fuzz/fuzz_$(1).o $(FUZZ_SHARED) \
    $(call archives,fuzz,$(2))
	@mkdir -p $$(@D)
	@$$(CC_fuzz) $$(LDFLAGS_fuzz) $$(LDFLAGS_$$(@F)) -o $$@ $$^ $$(LIBS)

endef

$(eval $(foreach t,$(FUZZ_TARGETS), \
    $(call fuzz_target,$(call program_name,$(t)),$(call program_folder,$(t)))))

FUZZ_NAMES := $(foreach t,$(FUZZ_TARGETS),$(call program_name,$(t)))

.PHONY: fuzz fuzz-programs
fuzz-programs: $(foreach name,$(FUZZ_NAMES),$(call fuzz_program,$(name)))

fuzz: $(foreach name,$(or $(TARGET),$(FUZZ_NAMES)),$(call fuzz_program,$(name)))
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 python3 -m fuzz --seconds $(TIME) --jobs $(JOBS) \
	    --report $(BUILD)/reports/fuzz.json $(or $(TARGET),$(FUZZ_NAMES))
