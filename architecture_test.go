package ironcurtainmux_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// table returns the rows of the first table below a heading of a page, without its head,
// each as its cells.
func table(t *testing.T, page, heading string) [][]string {
	t.Helper()
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	within := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "## ") {
			within = line == "## "+heading
		}
		if within && strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(line, "| "), "|"))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 3 {
		t.Fatalf("there is no table below %q", heading)
	}
	return rows[2:]
}

// names are the words in backquotes.
func names(cell string) []string {
	var all []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// covers reports whether an entry of the package table, such as "policy" or "broker/…", is about a package.
func covers(entry, part string) bool {
	if tree, ok := strings.CutSuffix(entry, "/…"); ok {
		return within(part, tree)
	}
	return part == entry
}

// The package table names every package once, and exactly its imports of other packages, but
// for those of internal, which are everybody's.
func TestPackageTable(t *testing.T) {
	may := map[string][]string{}
	everything := map[string]bool{}
	for _, row := range table(t, "ARCHITECTURE.md", "Packages") {
		for _, name := range names(row[0]) {
			if _, twice := may[name]; twice {
				t.Errorf("%s stands in the table twice", name)
			}
			may[name] = names(row[2])
			everything[name] = strings.TrimSpace(row[2]) == "all"
		}
	}
	for _, p := range packages(t) {
		if p.part() == "" {
			continue
		}
		allowed, named := may[p.part()]
		if !named {
			t.Errorf("%s does not stand in the table", p.part())
			continue
		}
		delete(may, p.part())
		var targets []string
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module+"/") && !everything[p.part()] {
				targets = append(targets, pkg{ImportPath: imported}.part())
			}
		}
		for _, target := range targets {
			found := slices.ContainsFunc(allowed, func(entry string) bool { return covers(entry, target) })
			if !found && (within(p.part(), "internal") || !within(target, "internal")) {
				t.Errorf("%s imports %s, which its row does not say", p.part(), target)
			}
		}
		for _, entry := range allowed {
			if !slices.ContainsFunc(targets, func(target string) bool { return covers(entry, target) }) {
				t.Errorf("%s does not import %s, which its row says", p.part(), entry)
			}
		}
	}
	for name := range may {
		t.Run(name, func(t *testing.T) {
			t.Errorf("the table tells of %s, which does not exist", name)
		})
	}
}

// The dependency table names every module that go.mod requires for what is
// imported here, and no other.
func TestDependencyTable(t *testing.T) {
	text := ""
	for _, row := range table(t, "ARCHITECTURE.md", "Dependencies") {
		text += row[0] + ","
	}
	told := map[string]bool{}
	for _, cell := range strings.Split(strings.ReplaceAll(text, "**", ""), ",") {
		if words := strings.Fields(cell); len(words) > 0 {
			told[words[0]] = true
		}
	}
	for _, path := range imported(t) {
		name := strings.TrimPrefix(path, "github.com/")
		if !told[name] {
			t.Errorf("%s does not stand in the table", name)
		}
		delete(told, name)
	}
	for name := range told {
		t.Run(name, func(t *testing.T) {
			t.Errorf("the table tells of %s, of which nothing is imported", name)
		})
	}
}

var bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)

// Where the dependency table names packages after modules in bold, nothing outside
// these packages imports them.
func TestThirdPartyTypesStayHome(t *testing.T) {
	homes := map[string][]string{}
	for _, row := range table(t, "ARCHITECTURE.md", "Dependencies") {
		for _, m := range bold.FindAllStringSubmatch(row[0], -1) {
			homes[m[1]] = names(row[0])
		}
	}
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			for dependency, home := range homes {
				at := func(home string) bool { return within(p.part(), home) }
				if within(strings.TrimPrefix(path, "github.com/"), dependency) && !slices.ContainsFunc(home, at) {
					t.Errorf("%s imports %s, whose types stay in %s", p.part(), path, strings.Join(home, " and "))
				}
			}
		}
	}
}

// imported lists the modules, besides this one, of which its packages and their
// tests import something.
func imported(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatalf("go.mod: %v", err)
	}
	seen := map[string]bool{}
	var all []string
	for _, p := range packages(t) {
		for _, path := range append(append(p.Imports, p.TestImports...), p.XTestImports...) {
			home := ""
			for _, m := range mod.Require {
				if within(path, m.Path) && len(m.Path) > len(home) {
					home = m.Path
				}
			}
			if home != "" && !seen[home] {
				seen[home] = true
				all = append(all, home)
			}
		}
	}
	return all
}
