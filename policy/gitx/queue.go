package gitx

import (
	"path/filepath"
	"regexp"
)

// Patterns for the files that git keeps of an interrupted operation.
var (
	execLine = regexp.MustCompile(`(?m)^[ \t]*(?:x|exec)(?:[ \t\r]|$)`)
	strategy = regexp.MustCompile(`^[a-z-]*\r?\n?$`) // a name, which git looks up among its own commands
)

// Queued describes what git would run when it continues an interrupted rebase or
// cherry-pick: commands in the list of remaining steps, and a merge strategy that is a
// path.
func (r *Repo) Queued() ([]string, error) {
	todo, err := readFile(filepath.Join(r.GitDir, "rebase-merge/git-rebase-todo"), maxConfig)
	if err != nil {
		return nil, err
	}
	var out []string
	if execLine.Match(todo) {
		out = append(out, "commands of an interrupted rebase")
	}
	merge, err := readFile(filepath.Join(r.GitDir, "rebase-merge/strategy"), 4096)
	if err != nil {
		return nil, err
	}
	data, err := readFile(filepath.Join(r.GitDir, "sequencer/opts"), maxConfig)
	if err != nil {
		return nil, err
	}
	options, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	if !strategy.Match(merge) || !strategy.MatchString(options.last("options", "", "strategy")) {
		out = append(out, "a merge strategy that is a path")
	}
	return out, nil
}
