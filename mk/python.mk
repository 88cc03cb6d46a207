# The Python of the end-to-end tests: an environment outside of the tree, named by a hash of what is
# in it. It is made in a folder of another name, so what exists is complete. Depend on $(PYTHON) and
# run modules by it ($(PYTHON) -m pytest); the scripts beside it do not know of the renaming.

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/azuredisk-csi
VENV := $(CACHE)/venv/$(shell sha256sum test/requirements.txt | cut -c1-16)
PYTHON := $(VENV)/bin/python3

MAKE_PYTHON := rm -rf $(VENV).partial && python3 -m venv $(VENV).partial && \
    $(VENV).partial/bin/python3 -m pip install -r test/requirements.txt && mv $(VENV).partial $(VENV)
