# make install     the programs that users run, into $(DESTDIR)$(PREFIX)/bin
# make uninstall   takes them away again

PREFIX ?= /usr/local
bindir := $(PREFIX)/bin
INSTALLED := $(filter-out azsim azdisk-sim,$(PROGRAM_NAMES))

.PHONY: install uninstall
install: programs
	@install -d $(DESTDIR)$(bindir)
	@install -m 755 $(INSTALLED:%=$(BUILD)/bin/%) $(DESTDIR)$(bindir)

uninstall:
	@rm -f $(INSTALLED:%=$(DESTDIR)$(bindir)/%)
