# make GOAL... ARCHITECTURE=arm64   the goals for another architecture of Debian, as root: programs, image, unit,
#                                   release. The same Makefile, in a container root (cross.sh); what it
#                                   makes is in build/arm64

GOALS := $(or $(MAKECMDGOALS),all)
# The root has an environment of its own.
FROM_ENVIRONMENT := $(foreach name,VERSION IMAGE CFLAGS LDFLAGS DEVELOPER ALSO,$(if \
    $(filter environment,$(origin $(name))),$(name)='$($(name))'))

.PHONY: $(GOALS) in-a-root
$(GOALS): in-a-root
	@:

in-a-root:
	@mk/cross.sh $(ARCHITECTURE) $(CACHE)/roots $(GOALS) $(FROM_ENVIRONMENT) \
	    $(filter-out ARCHITECTURE=%,$(MAKEOVERRIDES))
