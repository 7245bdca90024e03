package ironcurtainmux_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/ironcurtain-mux/ironcurtain-mux"

// directions says which of our packages each part of the tree may import, by
// prefix; a part may always import itself. A longer prefix wins over a shorter.
var directions = []struct {
	part string
	may  []string
	why  string
}{
	{"", nil, "the top of the tree holds tests only"},
	{"cmd", []string{"broker", "docker", "mitm", "policy", "term", "tui"}, "the composition root knows everybody"},
	{"tui", []string{"broker!", "term"}, "the user interface sees the broker through broker.API alone, so that the broker can move behind a socket"},
	{"term", nil, "a terminal engine serves whoever feeds it and knows nobody"},
	{"policy", nil, "a verdict must depend on nothing but the call and the policy"},
	{"mitm", nil, "the proxy gets its decisions as functions, so that it can be tested and reused alone"},
	{"docker", nil, "containers are run without knowing for whom"},
	{"broker", []string{"policy", "mitm", "docker"}, "the trusted process never depends on what draws it"},
	{"broker/scripted", nil, "to the broker the scripted provider is an upstream like any other"},
	{"internal", nil, "what everybody may use depends on nobody"},
}

// homes says where a third-party module's types may be seen.
var homes = []struct {
	module string
	home   string
	why    string
}{
	{"charm.land", "tui", "only the user interface runs on Bubble Tea"},
	{"github.com/charmbracelet", "tui", "only the user interface runs on Bubble Tea"},
	{"github.com/hinshun/vt10x", "term", "vt10x is one of two stores behind term's Grid"},
	{"github.com/creack/pty", "term", "terminals are made in one place"},
	{"github.com/fsouza/go-dockerclient", "docker", "the engine's client stays behind the types of package docker"},
	{"github.com/JohannesKaufmann", "broker/fetch", "turning pages into text is one server's business"},
	{"github.com/anthropics/anthropic-sdk-go", "broker/llm/provider", "the host's own model calls stay behind llm.Model"},
	{"github.com/openai/openai-go", "broker/llm/provider", "the host's own model calls stay behind llm.Model"},
	{"google.golang.org/genai", "broker/llm/provider", "the host's own model calls stay behind llm.Model"},
	{"github.com/mark3labs/mcp-go", "broker/mcpproxy", "MCP types stay behind the policy proxy"},
}

// pkg is what "go list -json" tells of a package.
type pkg struct {
	ImportPath   string
	Doc          string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Error        *struct{ Err string }
}

// part is the package's path inside the module.
func (p pkg) part() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// packages lists every package of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Doc,Imports,TestImports,XTestImports,Error", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

// within reports whether part is prefix or lies below it.
func within(part, prefix string) bool {
	return part == prefix || prefix != "" && strings.HasPrefix(part, prefix+"/")
}

// permits reports whether an entry of a may list covers a part. An entry that
// ends in ! covers that one package and not those below it.
func permits(entry, part string) bool {
	if exact, ok := strings.CutSuffix(entry, "!"); ok {
		return part == exact
	}
	return within(part, entry)
}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		rule := -1
		for i, d := range directions {
			if within(p.part(), d.part) && (rule < 0 || len(d.part) > len(directions[rule].part)) {
				rule = i
			}
		}
		if rule < 0 {
			t.Errorf("%s belongs to no part of the tree: put it under one, or give it a line in directions", p.ImportPath)
			continue
		}
		d := directions[rule]
		for _, imported := range p.Imports {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			target := pkg{ImportPath: imported}.part()
			allowed := within(target, d.part)
			for _, entry := range d.may {
				allowed = allowed || permits(entry, target)
			}
			if !allowed {
				t.Errorf("%s imports %s, which it may not: %s", p.ImportPath, target, d.why)
			}
		}
	}
}

func TestThirdPartyTypesStayHome(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, h := range homes {
				if within(imported, h.module) && !within(p.part(), h.home) {
					t.Errorf("%s imports %s, which belongs to %s: %s", p.ImportPath, imported, h.home, h.why)
				}
			}
		}
	}
}

// Every package compiles as far as listing goes: an import that does not exist
// would make the rules above pass for want of imports.
func TestEveryPackageCanBeListed(t *testing.T) {
	all := packages(t)
	if len(all) < 8 {
		t.Errorf("only %d packages were found", len(all))
	}
	for _, p := range all {
		if p.Error != nil {
			t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
	}
}

// The providers' libraries are linked into the program that asks models, and
// into nothing that people or containers run all the time.
func TestProvidersLibrariesStaySeparate(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			target := pkg{ImportPath: imported}.part()
			if target == "broker/llm/provider" && p.part() != "cmd/ironcurtain-mux-ask" && p.part() != "cmd/eval-approver" {
				t.Errorf("%s imports %s: ask through broker/llm/helper, or the multiplexer becomes three times as large", p.part(), target)
			}
		}
	}
}
