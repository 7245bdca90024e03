# ironcurtain-mux. "make" alone lists what can be made.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli.release=$(VERSION)
PREFIX  ?= $(HOME)/.local
BINARY  := bin/ironcurtain-mux
LINTER  := bin/golangci-lint
BRIDGES := broker/bridge/embedded/built/ironcurtain-mux-bridge

# Everything is built alike, so that what one command has compiled the next need not.
export GOFLAGS := $(strip -trimpath $(GOFLAGS))

# How long "make fuzz" gives each target and "make check" all of them, in seconds.
FUZZ_EACH  ?= 30
FUZZ_TOTAL ?= 180

# How often "make endure" ends, kills or replaces something.
RUNS ?= 200

.DEFAULT_GOAL := help
.PHONY: eval-approver help setup bridge program build images vet darwin install run demo demo-image test ways endure fuzz fuzz-short bench lint fmt picture generate check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install what is missing, start the Docker engine
	@scripts/setup

# Whoever compiles meanwhile finds either all of it or what was there. The same source gives the same
# bytes, so what carries them is compiled anew only when they change.
bridge: ## build the program that runs in containers, which the host's program carries, for both architectures
	@rm -f $(BRIDGES)
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch CGO_ENABLED=0 go build -ldflags '-s -w -buildid=' -buildvcs=false -o bin/bridge-$$arch ./cmd/ironcurtain-mux-bridge && \
		gzip -9nf bin/bridge-$$arch && mv bin/bridge-$$arch.gz $(BRIDGES)-linux-$$arch.gz || exit; \
	done

program: bridge ## build bin/ironcurtain-mux
	@CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/ironcurtain-mux

build: program ## build that and the programs beside it: one asks models, one runs agents' programs
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o $(BINARY)-ask ./cmd/ironcurtain-mux-ask
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o $(BINARY)-code ./cmd/ironcurtain-mux-code

install: build ## install program, manual pages and completions under PREFIX (~/.local)
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux
	install -D -m 755 $(BINARY)-ask $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux-ask
	install -D -m 755 $(BINARY)-code $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux-code
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/man/*.1
	install -D -m 644 docs/completions/ironcurtain-mux.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ironcurtain-mux
	install -D -m 644 docs/completions/ironcurtain-mux.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_ironcurtain-mux
	install -D -m 644 docs/completions/ironcurtain-mux.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ironcurtain-mux.fish

run: setup build ## open the multiplexer; needs a key or a login of your provider
	@scripts/with-engine $(BINARY)

# Most of the time of a first build goes into the program that asks models, which the demo
# does without. The image of its agent is made while the program is compiled, by a small
# program that is compiled before.
demo: setup ## open the multiplexer with a scripted model; needs no key
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o bin/prepare-demo ./cmd/prepare-demo
	@$(MAKE) --no-print-directory -j 2 program demo-image
	@scripts/with-engine $(BINARY) demo

# Not listed: a part of "make demo".
demo-image:
	@scripts/with-engine bin/prepare-demo claude-code

images: ## make the images of the agents
	scripts/with-engine $(BINARY) images build

# The packages that contain the providers' libraries. These start no goroutines, name no
# system, and take minutes to compile for another one or for the race detector.
PROVIDERS := broker/llm/provider cmd/ironcurtain-mux-ask cmd/eval-approver
OTHERS     = $(filter-out $(addprefix %/,$(PROVIDERS)),$(shell go list ./...))

vet:
	CGO_ENABLED=0 go vet ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet $(OTHERS) # the parts for macOS, tests too

# What is vetted for arm64 is compiled by that.
darwin: bridge ## build bin/darwin-ARCHITECTURE/ironcurtain-mux for macOS, with both bridges inside
	@for arch in arm64 amd64; do \
		GOOS=darwin GOARCH=$$arch CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o bin/darwin-$$arch/ironcurtain-mux ./cmd/ironcurtain-mux || exit; \
		for inside in amd64 arm64; do \
			grep -aq "$(notdir $(BRIDGES))-linux-$$inside.gz" bin/darwin-$$arch/ironcurtain-mux || \
				{ echo "bin/darwin-$$arch/ironcurtain-mux has no bridge for $$inside" >&2; exit 1; }; \
		done; \
	done

# The images are made beside the compiling, which needs no network, and before the tests,
# which have limits of time. The package that takes longest begins first. A program that
# looks for races need not wait a second for reports when it ends.
test: ## run the whole suite, real parts included
	@scripts/setup --tests
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory -j 2 --output-sync images vet darwin
	go test -shuffle=on $(addprefix ./,$(PROVIDERS))
	GORACE=atexit_sleep_ms=0 scripts/with-engine go test -race -shuffle=on -timeout 60m ./cmd/ironcurtain-mux/... $(OTHERS)

ways: bridge ## try the program as on other engines: over a stream, with copies of files, and the bridge of arm64
	@scripts/setup --tests
	@# The emulator does not run what its program starts of itself.
	@GOARCH=arm64 CGO_ENABLED=0 go test -short -exec qemu-aarch64 -skip TestCarryStaysAsLongAsItIsUsed ./broker/bridge ./broker/reach/link
	@for way in stream copied; do \
		IRONCURTAIN_TEST_WAY=$$way GORACE=atexit_sleep_ms=0 scripts/with-engine go test -race -shuffle=on -timeout 60m ./cmd/ironcurtain-mux || exit; \
	done

endure: bridge ## try what is promised of the daemon at full size, with RUNS rounds of kills (200): two hours
	@scripts/setup --tests
	@scripts/endure $(RUNS)

fuzz: ## run each fuzz target for FUZZ_EACH seconds (30), several beside each other
	@scripts/fuzz each $(FUZZ_EACH)

fuzz-short: ## run all fuzz targets for FUZZ_TOTAL seconds together (180)
	@scripts/fuzz total $(FUZZ_TOTAL)

bench: bridge ## run the benchmarks
	@scripts/setup --tests
	scripts/with-engine go test -run '^$$' -bench . -benchmem ./...
	cd policy/bench && go test -run '^$$' -bench . -benchmem ./...

eval-approver: ## measure the automatic approval; PROVIDER=anthropic|openai|google asks a model too
	@go run ./cmd/eval-approver -provider '$(PROVIDER)' -model '$(MODEL)'

lint: $(LINTER) ## run the linters
	$(LINTER) run ./...

fmt: $(LINTER) ## format the Go files
	$(LINTER) fmt ./...

picture: setup program ## draw the pictures in docs: the four of the look, and demo.svg from a run of the demo
	go test -run '^TestLook$$' -count=1 ./tui -update
	scripts/with-engine go test -run '^TestPicture$$' -count=1 ./cmd/ironcurtain-mux -args -picture $(CURDIR)/docs/demo.svg

generate: program ## make the manual pages, completions and key table in docs anew
	@rm -rf docs/man docs/completions && mkdir -p docs/man docs/completions
	@$(BINARY) man docs/man
	@for shell in bash zsh fish; do $(BINARY) completion $$shell >docs/completions/ironcurtain-mux.$$shell || exit 1; done
	@$(BINARY) keys --default >docs/keys.md
	@$(BINARY) config show --schema >docs/config.schema.json

check: test fuzz-short ## what CI runs, and a short search for new findings

clean: ## remove what was built
	rm -rf bin $(BRIDGES)*

# The linter is built from the version that tools/go.mod pins. It has a module
# of its own, so that its dependencies stay out of the product's.
$(LINTER): tools/go.mod tools/go.sum
	cd tools && GOFLAGS=-mod=readonly go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
