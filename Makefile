# ironcurtain-mux. "make" without a target lists the targets.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli.release=$(VERSION)
PREFIX  ?= $(HOME)/.local
BINARY  := bin/ironcurtain-mux
LINTER  := bin/golangci-lint
BRIDGES := broker/bridge/embedded/built/ironcurtain-mux-bridge

# Every command builds with the same flags, so that the build cache of one serves the next.
export GOFLAGS := $(strip -trimpath $(GOFLAGS))

# How many seconds "make fuzz" gives each target, and "make check" all of them together.
FUZZ_EACH  ?= 30
FUZZ_TOTAL ?= 180

# How many times "make endure" ends, kills or replaces something.
RUNS ?= 200

.DEFAULT_GOAL := help
.PHONY: eval-approver help setup bridge program build images vet darwin install run demo demo-image test ways endure fuzz fuzz-short bench lint fmt picture generate check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## install missing packages, start the Docker engine
	@scripts/setup

# A finished bridge replaces the former one in one step, because another process may be compiling it in.
# Its digest stands in front of it, because the program needs that at each start, and unpacking takes time.
# The same source gives the same bytes, so the host's program is recompiled only when they change.
bridge: ## build the program that runs in containers, for both architectures; bin/ironcurtain-mux contains it
	@rm -f $(BRIDGES) $(BRIDGES)-linux-*.gz
	@for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch CGO_ENABLED=0 go build -ldflags '-s -w -buildid=' -buildvcs=false -o bin/bridge-$$arch ./cmd/ironcurtain-mux-bridge && \
		{ sha256sum <bin/bridge-$$arch 2>/dev/null || shasum -a 256 <bin/bridge-$$arch; } | cut -c -64 >bin/bridge-$$arch.packed && \
		gzip -9nc bin/bridge-$$arch >>bin/bridge-$$arch.packed && mv bin/bridge-$$arch.packed $(BRIDGES)-linux-$$arch || exit; \
	done

program: bridge ## build bin/ironcurtain-mux
	@CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/ironcurtain-mux

build: program ## build bin/ironcurtain-mux, and the programs that ask models and run agents' programs
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o $(BINARY)-ask ./cmd/ironcurtain-mux-ask
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o $(BINARY)-code ./cmd/ironcurtain-mux-code

install: build ## install programs, manual pages and completions under PREFIX (~/.local)
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux
	install -D -m 755 $(BINARY)-ask $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux-ask
	install -D -m 755 $(BINARY)-code $(DESTDIR)$(PREFIX)/bin/ironcurtain-mux-code
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 docs/man/*.1
	install -D -m 644 docs/completions/ironcurtain-mux.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ironcurtain-mux
	install -D -m 644 docs/completions/ironcurtain-mux.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_ironcurtain-mux
	install -D -m 644 docs/completions/ironcurtain-mux.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/ironcurtain-mux.fish

run: setup build ## open the multiplexer; needs a key or a login of your provider
	@scripts/with-engine $(BINARY)

# The demo does not need the program that asks models, which takes most of the time of a first
# build. While the main program is compiled, a small program, compiled before it, makes the image
# of the demo's agent.
demo: setup ## open the multiplexer with a scripted model; needs no key
	@CGO_ENABLED=0 go build -ldflags '-s -w' -o bin/prepare-demo ./cmd/prepare-demo
	@$(MAKE) --no-print-directory -j 2 program demo-image
	@scripts/with-engine $(BINARY) demo

# A part of "make demo", which "make help" does not list.
demo-image:
	@scripts/with-engine bin/prepare-demo claude-code

images: ## make the images of the agents
	scripts/with-engine $(BINARY) images build

# The packages that contain the providers' libraries. They take minutes to compile for another
# system or for the race detector, and need neither: they start no goroutines and have no code
# for one system only.
PROVIDERS := broker/llm/provider cmd/ironcurtain-mux-ask cmd/eval-approver
OTHERS     = $(filter-out $(addprefix %/,$(PROVIDERS)),$(shell go list ./...))

vet:
	CGO_ENABLED=0 go vet ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet $(OTHERS) # the files for macOS, with their tests

# The build for arm64 comes first because it reuses what "make vet" has compiled.
darwin: bridge ## build bin/darwin-ARCHITECTURE/ironcurtain-mux for macOS, with both bridges inside
	@for arch in arm64 amd64; do \
		GOOS=darwin GOARCH=$$arch CGO_ENABLED=0 go build -ldflags '$(LDFLAGS)' -o bin/darwin-$$arch/ironcurtain-mux ./cmd/ironcurtain-mux || exit; \
		for inside in amd64 arm64; do \
			grep -aq "$(notdir $(BRIDGES))-linux-$$inside" bin/darwin-$$arch/ironcurtain-mux || \
				{ echo "bin/darwin-$$arch/ironcurtain-mux has no bridge for $$inside" >&2; exit 1; }; \
		done; \
	done

# The images are made before the tests, which have time limits, and during the compilation,
# which needs no network. The package whose tests take longest begins first. GORACE removes the
# second that a program under the race detector waits when it ends.
test: ## run the whole suite, with real agents, containers and tool servers
	@scripts/setup --tests
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory -j 2 --output-sync images vet darwin
	go test -shuffle=on $(addprefix ./,$(PROVIDERS))
	GORACE=atexit_sleep_ms=0 scripts/with-engine go test -race -shuffle=on -timeout 60m ./cmd/ironcurtain-mux/... $(OTHERS)

ways: bridge ## test the program as on other engines (by stream, with copied files), and the bridge for arm64
	@scripts/setup --tests
	@# The skipped test starts its own program again, which the emulator cannot run.
	@GOARCH=arm64 CGO_ENABLED=0 go test -short -exec qemu-aarch64 -skip TestCarryStaysAsLongAsItIsUsed ./broker/bridge ./broker/reach/link
	@for way in stream copied; do \
		IRONCURTAIN_TEST_WAY=$$way GORACE=atexit_sleep_ms=0 scripts/with-engine go test -race -shuffle=on -timeout 60m ./cmd/ironcurtain-mux || exit; \
	done

endure: bridge ## test the promises about the daemon at full size, with RUNS rounds of kills (200): two hours
	@scripts/setup --tests
	@scripts/endure $(RUNS)

fuzz: ## run each fuzz target for FUZZ_EACH seconds (30), several at a time
	@scripts/fuzz each $(FUZZ_EACH)

fuzz-short: ## run all fuzz targets for FUZZ_TOTAL seconds together (180)
	@scripts/fuzz total $(FUZZ_TOTAL)

bench: bridge ## run the benchmarks
	@scripts/setup --tests
	scripts/with-engine go test -run '^$$' -bench . -benchmem ./...
	cd policy/bench && go test -run '^$$' -bench . -benchmem ./...

eval-approver: ## measure the automatic approval; PROVIDER=anthropic|openai|google also asks a model
	@go run ./cmd/eval-approver -provider '$(PROVIDER)' -model '$(MODEL)'

lint: $(LINTER) ## run the linters
	$(LINTER) run ./...

fmt: $(LINTER) ## format the Go files
	$(LINTER) fmt ./...

picture: setup program ## draw the pictures in docs: the four of look.md, and demo.svg from a run of the demo
	go test -run '^TestLook$$' -count=1 ./tui -update
	scripts/with-engine go test -run '^TestPicture$$' -count=1 ./cmd/ironcurtain-mux -args -picture $(CURDIR)/docs/demo.svg

generate: program ## regenerate the manual pages, completions, key table and config schema in docs
	@rm -rf docs/man docs/completions && mkdir -p docs/man docs/completions
	@$(BINARY) man docs/man
	@for shell in bash zsh fish; do $(BINARY) completion $$shell >docs/completions/ironcurtain-mux.$$shell || exit 1; done
	@$(BINARY) keys --default >docs/keys.md
	@$(BINARY) config show --schema >docs/config.schema.json

check: test fuzz-short ## run the whole suite, and all fuzz targets for a short time

clean: ## remove everything that was built
	rm -rf bin $(BRIDGES)*

# tools/go.mod pins the linter's version. It is a separate module, so that the linter's
# dependencies stay out of the product's.
$(LINTER): tools/go.mod tools/go.sum
	cd tools && GOFLAGS=-mod=readonly go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
