# make GOAL... ARCHITECTURE=arm64   the goals for another architecture of Debian, as root: programs, image, unit,
#                                   release. The same Makefile, in a container root (cross.sh); what it
#                                   makes is in build/arm64

GOALS := $(or $(MAKECMDGOALS),all)

.PHONY: $(GOALS) in-a-root
$(GOALS): in-a-root
	@:

in-a-root:
	@mk/cross.sh $(ARCHITECTURE) $(CACHE)/roots $(GOALS) $(filter-out ARCHITECTURE=%,$(MAKEOVERRIDES))
