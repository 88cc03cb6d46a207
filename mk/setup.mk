# make setup   installs the Debian packages that are missing; nothing to do, nothing done

DEBIAN_PACKAGES = $(shell sed -n 's/^\([a-z][^ ]*\) .*/\1/p' mk/debian-packages.txt)
SETUP := $(BUILD)/setup.stamp

.PHONY: setup
setup: $(SETUP)

$(SETUP): mk/debian-packages.txt
	@installed=$$(dpkg-query -W -f '$${Package} $${db:Status-Status}\n' $(DEBIAN_PACKAGES) 2>/dev/null | \
	    sed -n 's/ installed$$//p'); \
	missing=; \
	for package in $(DEBIAN_PACKAGES); do \
	    echo "$$installed" | grep -qxF "$$package" || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing$$missing"; \
	if [ "$$(id -u)" = 0 ]; then as_root=env; \
	elif command -v sudo >/dev/null; then as_root="sudo env"; \
	else echo "setup: become root, or install sudo: these are missing:$$missing" >&2; exit 1; fi; \
	$$as_root apt-get update -qq && \
	$$as_root DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends -y $$missing
	@mkdir -p $(@D)
	@touch $@
