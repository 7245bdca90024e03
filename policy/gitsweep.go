package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// stagingTools take in every file below the directories they are given.
var stagingTools = []string{"git_add", "git_commit"}

// showingTools can show a file as it was in a revision.
var showingTools = []string{"git_show", "git_diff"}

func (p *preparation) showsFiles() bool {
	return p.tool.traits.Git && slices.Contains(showingTools, p.tool.key.tool)
}

// wholeTree refuses a call that takes in every file of the repository while a
// protected one is among them.
func (p *preparation) wholeTree(call jsonx.Value) error {
	if p.repo == nil || p.repo.WorkTree == "" || !sweeps(p.tool.key.tool, call) {
		return nil
	}
	r, err := p.engine.paths.ResolveTrusted(p.repo.WorkTree)
	if err != nil {
		return p.refuse(RuleGitRepository, "path", firstPath(p.rootRole), p.repo.WorkTree, err.Error())
	}
	return p.checkProtected("path", firstPath(p.rootRole), r, reads)
}

// sweeps reports whether a git call reads files that it does not name.
func sweeps(tool string, call jsonx.Value) bool {
	is := func(name string) bool {
		v, present := call.Member(name)
		return present && truthy(v)
	}
	switch tool {
	case "git_add":
		paths, _ := call.Member("paths")
		files, _ := call.Member("files")
		return is("all") || is("update") || (len(paths.Items) == 0 && paths.Text == "" && len(files.Items) == 0 && files.Text == "")
	case "git_stash", "git_diff":
		return is("includeUntracked")
	}
	return false
}

// revisionFile checks a file named in a revision: a protected file stays protected in
// its earlier versions.
func (p *preparation) revisionFile(name, rev, file string) error {
	if file == "" || strings.Contains(rev, "{/") {
		return nil // the whole tree, or text that is searched for
	}
	if why := checkRepoPath(file); why != "" {
		return p.refuse(RuleGitOption, name, GitRef, file, why)
	}
	base := p.root.Path
	if p.repo != nil && p.repo.WorkTree != "" && !strings.HasPrefix(file, "./") {
		base = p.repo.WorkTree
	}
	full := base + "/" + cleanRelative(file)
	r, err := p.engine.paths.ResolveHost(full)
	if err != nil {
		r = pathx.Resolved{Path: full} // its place may hold something else by now
	}
	return p.checkProtected(name, ReadPath, r, itself)
}
