package gitx

import (
	"path/filepath"
	"regexp"
)

// What git keeps of work that it was interrupted in.
var (
	execLine = regexp.MustCompile(`(?m)^[ \t]*(?:x|exec)(?:[ \t\r]|$)`)
	strategy = regexp.MustCompile(`^[a-z-]*\r?\n?$`) // which git looks up among its own commands
)

// Queued names what git would run when it goes on with an interrupted rebase or
// cherry-pick: the commands in the list of what is left, and a merge strategy
// that is a path.
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
