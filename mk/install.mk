# make install     the programs that users run, into $(DESTDIR)$(PREFIX)/bin, and azdiskctl by the names
#                  by which kubectl runs it: as `kubectl azdisk`, and to complete its command lines
# make uninstall   takes them away again

PREFIX ?= /usr/local
bindir := $(PREFIX)/bin
INSTALLED := $(filter-out azsim azdisk-sim,$(PROGRAM_NAMES))
PLUGIN_LINKS := kubectl-azdisk kubectl_complete-azdisk

.PHONY: install uninstall
install: programs
	@install -d $(DESTDIR)$(bindir)
	@install -m 755 $(INSTALLED:%=$(BUILD)/bin/%) $(DESTDIR)$(bindir)
	@for link in $(PLUGIN_LINKS); do ln -sfn azdiskctl $(DESTDIR)$(bindir)/$$link; done

uninstall:
	@rm -f $(INSTALLED:%=$(DESTDIR)$(bindir)/%) $(PLUGIN_LINKS:%=$(DESTDIR)$(bindir)/%)
