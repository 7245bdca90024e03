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

// Every package compiles as far as listing goes: an import that does not exist
// would make the tables agree for want of imports.
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
