# make site   the pages of docs/ as a site, in build/site

.PHONY: site
site: $(PYTHON)
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs --quiet build --strict --config-file site/mkdocs.yml
	@echo "$(BUILD)/site/index.html"
