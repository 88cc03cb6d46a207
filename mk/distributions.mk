# make distributions                       compiles the programs in container roots of other releases of
# make distributions DISTRIBUTIONS=trixie  Debian: other compilers, C libraries and gRPCs, as root

DISTRIBUTIONS := bookworm trixie

.PHONY: distributions
distributions: | $(call packages,roots)
	@set -e; for name in $(DISTRIBUTIONS); do mk/distribution.sh $$name $(CACHE)/roots; done
