# make build      the program, as ./otask (missing C libraries are installed first)
# make demo       two devices, a merge, a conflict and a refusal, played with ./otask
# make test       every test (a PostgreSQL server is installed first, and started by the tests themselves)
# make lint       format and warnings
# make bench      time and memory beside git's, and how push_changes grows; QUICK=1 in a minute
# make torture    kills syncs and servers at random moments, RUNS=100 times each, and looks at what is left
# make editors    drives vim, nano, emacs and others in a terminal while otask pulls under them
# make fuzz       looks for inputs that break a parser, SECONDS=60 for each of them
# make test-sanitize  every test under the address sanitizer, then under the thread sanitizer
# make install    into $(PREFIX); make clean: remove what was built

PREFIX ?= /usr/local
# Warnings are errors here, not for those who build a release with a newer compiler.
STRICT := -Xswiftc -warnings-as-errors
SOURCES := $(shell find Sources template Package.swift -type f)

APT_PACKAGES := pkg-config libyaml-dev libcmark-dev libgit2-dev libsqlite3-dev libutf8proc-dev libssl-dev \
	libcurl4-openssl-dev zlib1g-dev
BREW_PACKAGES := pkg-config libyaml cmark libgit2 sqlite utf8proc openssl@3 curl
# What the tests need besides. They start a server of their own; the one that Debian's package starts isn't used.
TEST_APT_PACKAGES := libpq-dev postgresql postgresql-pgtap git
TEST_BREW_PACKAGES := libpq postgresql@17

.PHONY: build deps test-deps script-deps demo test test-sanitize fuzz torture editors lint bench install clean

build: deps otask

otask: $(SOURCES)
	swift build -c release --static-swift-stdlib --product otask
	cp "$$(swift build -c release --static-swift-stdlib --show-bin-path)/otask" otask

# Installs what is missing of the packages $(1), or with Homebrew of $(2). A package may be a name that others provide:
# pgTAP's own is named for the major version of the server.
define install
	@if command -v dpkg >/dev/null && command -v apt-get >/dev/null; then \
		have=$$(dpkg-query -W -f='$${db:Status-Abbrev} $${Package} $${Provides}\n' | grep '^ii' | tr ' ,' '\n\n'); \
		missing=""; \
		for package in $(1); do echo "$$have" | grep -qx "$$package" || missing="$$missing $$package"; done; \
		if [ -n "$$missing" ]; then \
			as_root=""; \
			if [ "$$(id -u)" != 0 ]; then \
				command -v sudo >/dev/null || { echo "make: as root: apt-get install$$missing" >&2; exit 1; }; \
				as_root="sudo"; \
			fi; \
			echo "installing:$$missing"; \
			$$as_root apt-get update -qq || exit 1; \
			server=$$(apt-cache depends postgresql | sed -n 's/^ *Depends: \(postgresql-[0-9]*\)$$/\1/p' | head -n 1); \
			missing=$$(echo "$$missing" | sed "s/postgresql-pgtap/$$server-pgtap/"); \
			$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; \
		fi; \
	elif command -v brew >/dev/null; then \
		missing=""; \
		for package in $(2); do brew list --versions "$$package" >/dev/null || missing="$$missing $$package"; done; \
		if [ -n "$$missing" ]; then echo "make: first run: brew install$$missing" >&2; exit 1; fi; \
	else \
		echo "make: there is no apt-get; install what these Debian packages hold: $(1)," >&2; \
		echo "      then run: swift build -c release --static-swift-stdlib --product otask" >&2; exit 1; \
	fi
endef

deps:
	@command -v swift >/dev/null || { echo "make: a Swift 6 toolchain is needed: https://www.swift.org/install" >&2; exit 1; }
	$(call install,$(APT_PACKAGES),$(BREW_PACKAGES))

test-deps: deps
	$(call install,$(TEST_APT_PACKAGES),$(TEST_BREW_PACKAGES))

demo: build
	@template/demo.sh ./otask

# Tests that are under way at once. Without a bound all of them are, and one may wait minutes for its next step.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 6

# Then what two devices do once more, over HTTP; stopping after every effect is tried once.
test: test-deps build
	OTASK="$(CURDIR)/otask" swift test $(STRICT)
	OTASK_WIRE=http OTASK_HISTORIES=50 swift test --skip-build $(STRICT) --filter SyncTests --skip CrashPoint

# Leaks are not looked for: the runtime keeps what it allocates once.
test-sanitize: test-deps
	for sanitizer in address thread; do \
		ASAN_OPTIONS=detect_leaks=0 OTASK_HISTORIES=50 swift test --sanitize $$sanitizer --scratch-path .build/$$sanitizer \
			|| exit 1; \
	done

SECONDS ?= 60
FUZZ := .build/fuzz
# What was found worth keeping lies in .build/fuzz/corpus, an input that breaks something in .build/fuzz/found-*.
fuzz: deps
	OTASK_FUZZ=1 swift build -c release --product Fuzz --scratch-path $(FUZZ) -Xswiftc -sanitize=fuzzer,address
	for target in task-files answers; do \
		mkdir -p $(FUZZ)/corpus/$$target && FUZZ_TARGET=$$target ASAN_OPTIONS=detect_leaks=0 $(FUZZ)/release/Fuzz \
			-max_total_time=$(SECONDS) -print_final_stats=1 -artifact_prefix=$(FUZZ)/found-$$target- \
			$(FUZZ)/corpus/$$target Tests/Fuzz/Seeds/$$target || exit 1; \
	done

script-deps: test-deps build
	$(call install,python3,python3)

RUNS ?= 100
torture: script-deps
	@python3 Tests/Torture/kill.py ./otask --runs $(RUNS) $(if $(SEED),--seed $(SEED))

editors: script-deps
	$(call install,vim nano emacs-nox,vim nano emacs)
	@python3 Tests/Torture/editors.py ./otask

lint: test-deps
	swift format lint --strict --recursive --parallel Package.swift Sources Tests
	swift build --build-tests $(STRICT)

# Tasks of `status` (SIZES), of push, pull and sync (SYNC_SIZES), of a sync of one change (CHANGE_SIZES) and of the peaks of
# memory (MEMORY_SIZE). QUICK=1: all of them small.
ifdef QUICK
SIZES ?= 1000 10000
SYNC_SIZES ?= 1000
CHANGE_SIZES ?= 1000
MEMORY_SIZE ?= 1000
else
SIZES ?= 10000 100000
SYNC_SIZES ?= 1000 10000
CHANGE_SIZES ?= 1000 100000
MEMORY_SIZE ?= 10000
endif
bench: script-deps
	@Tests/Bench/bench.py ./otask --status $(SIZES) --sync $(SYNC_SIZES) --change $(CHANGE_SIZES) --memory $(MEMORY_SIZE)
	@echo; Tests/Bench/push_changes.sh

install: build
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/man/man1" \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
		"$(DESTDIR)$(PREFIX)/share/zsh/site-functions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	install -m 755 otask "$(DESTDIR)$(PREFIX)/bin/otask"
	./otask help --man > "$(DESTDIR)$(PREFIX)/share/man/man1/otask.1"
	./otask completion bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/otask"
	./otask completion zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_otask"
	./otask completion fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/otask.fish"

clean:
	rm -rf .build otask
