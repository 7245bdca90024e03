package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// wholeTree refuses a call that reads files of the work tree which it does not name, if a
// protected file is among them.
func (p *preparation) wholeTree(call jsonx.Value) error {
	if p.repo == nil || p.repo.WorkTree == "" {
		return nil
	}
	if p.tool.does(shows, call) {
		if err := p.trackedFiles(call); err != nil {
			return err
		}
	}
	if !p.tool.does(sweeps, call) {
		return nil
	}
	r, err := p.view.ResolveTrusted(p.repo.WorkTree)
	if err != nil {
		return p.refuse(RuleGitRepository, "path", firstPath(p.rootRole), p.repo.WorkTree, err.Error())
	}
	return p.checkProtected("path", firstPath(p.rootRole), r, reads)
}

// shownFile returns the file that a call names inside the object it shows, as "/" and its
// path from some directory of the repository. It returns "" if the call names no file.
func shownFile(call jsonx.Value) string {
	if v, _ := call.Member("filePath"); v.Text != "" {
		return "/" + cleanRelative(v.Text)
	}
	object, _ := call.Member("object")
	if _, file, named := strings.Cut(object.Text, ":"); named && !strings.Contains(object.Text, "{/") {
		return "/" + cleanRelative(file)
	}
	return ""
}

// trackedFiles refuses a call that shows tracked files, if a protected file is tracked
// below the paths that the call names. A call that names none shows all tracked files.
func (p *preparation) trackedFiles(call jsonx.Value) error {
	tree, err := p.view.ResolveTrusted(p.repo.WorkTree)
	if err != nil || p.protected == nil {
		return err
	}
	var scope []string
	file := ""
	if p.tool.can(single) {
		file = strings.ToLower(shownFile(call))
	}
	for _, el := range p.elements {
		if el.role == RepoPath && file == "" {
			scope = append(scope, filepath.Join(p.root.Path, strings.TrimPrefix(el.text, p.root.Path)))
		}
	}
	var names []string // protected paths, relative to the work tree
	for i := range p.protected.resolved {
		name := p.protected.resolved[i].Path
		named := scope == nil || slices.ContainsFunc(scope, func(dir string) bool { return within(name, dir) })
		if name != tree.Path && within(name, tree.Path) && named {
			names = append(names, name[len(tree.Path)+1:])
		}
	}
	if names == nil {
		return nil
	}
	found, err := p.repo.Tracks(func(tracked string) bool {
		return strings.HasSuffix(strings.ToLower("/"+tracked), file) &&
			slices.ContainsFunc(names, func(name string) bool { return within(tracked, name) })
	})
	if err != nil {
		return p.refuse(RuleGitRepository, "path", firstPath(p.rootRole), p.root.Path, err.Error())
	}
	if found {
		return p.refuse(RuleProtectedPath, "path", firstPath(p.rootRole), p.root.Path, "a protected file is tracked, and the call would show what is in it; name the files to look at")
	}
	return nil
}

// revisionFile checks a file named in a revision. The earlier versions of a protected
// file are protected as well.
func (p *preparation) revisionFile(name, rev, file string) error {
	if file == "" || strings.Contains(rev, "{/") {
		return nil // the whole tree, or a search for text in commit messages
	}
	if why := checkRepoPath(file); why != "" {
		return p.refuse(RuleGitOption, name, GitRef, file, why)
	}
	base := p.root.Path
	if p.repo != nil && p.repo.WorkTree != "" && !strings.HasPrefix(file, "./") {
		base = p.repo.WorkTree
	}
	full := base + "/" + cleanRelative(file)
	r, err := p.view.ResolveHost(full)
	if err != nil {
		r = pathx.Resolved{Path: full} // the path may be something else today
	}
	return p.checkProtected(name, ReadPath, r, itself)
}
