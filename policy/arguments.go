package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// freeText are arguments that servers use only as text. Their values may look like paths
// or options, such as the content of a file.
var freeText = []string{
	"content", "edits", "text", "data", "query",
	"message", "author", "grep", "since", "until", "description", "body", "title", "format",
}

// optionValues are free texts that a git server passes to git as the value of an option.
// They must not begin like an option themselves.
var optionValues = []string{"author", "grep", "since", "until", "format", "pattern", "query"}

// fileNamePatterns are arguments that select files below a directory that the call names.
var fileNamePatterns = []string{"pattern", "excludePatterns"}

// strayValue refuses a value of an argument without roles if the server could interpret it
// as a path, an address or, for git, an option. A call whose paths lie inside the sandbox is
// allowed as a whole, so none of its other values may name something outside.
func (p *preparation) strayValue(name string, v jsonx.Value) error {
	if p.tool.traits.Git && v.Kind == jsonx.String && slices.Contains(optionValues, name) && strings.HasPrefix(strings.TrimSpace(v.Text), "-") {
		return p.refuse(RuleGitOption, name, None, v.Text, "the value looks like an option")
	}
	points := pointsElsewhere
	switch pattern := slices.Contains(fileNamePatterns, name); {
	case slices.Contains(freeText, name) || (pattern && p.tool.traits.Git):
		return nil
	case pattern:
		points = climbs
	}
	switch v.Kind {
	case jsonx.String:
		if points(strings.TrimSpace(v.Text), p.tool.traits.Git) {
			return p.refuse(RuleStrayValue, name, None, v.Text, "the argument has no role, but its value looks like an option, a path or an address")
		}
	case jsonx.Array:
		for _, item := range v.Items {
			if err := p.strayValue(name, item); err != nil {
				return err
			}
		}
	case jsonx.Object:
		for _, m := range v.Members {
			if err := p.strayValue(name, m.Value); err != nil {
				return err
			}
		}
	default: // numbers, truth values and null name nothing
	}
	return nil
}

func pointsElsewhere(s string, git bool) bool {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, `\\`) ||
		strings.Contains(s, "..") || strings.Contains(s, "://") || strings.HasPrefix(strings.ToLower(s), "file:") {
		return true
	}
	return git && (strings.HasPrefix(s, "-") || strings.HasPrefix(s, ":") || strings.Contains(s, "::") || strings.Contains(s, " --"))
}

// climbs reports whether a pattern could select files above its directory.
func climbs(s string, _ bool) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || slices.Contains(strings.Split(s, "/"), "..")
}

// gitArguments are arguments of git tools that are more than text, even if an annotation
// gives them no role.
var gitArguments = map[string]Role{
	"paths": RepoPath, "files": RepoPath, "filePath": RepoPath, "file": RepoPath,
	"filesToStage": RepoPath, "pathspec": RepoPath,

	"target": GitRef, "source": GitRef, "object": GitRef, "branch": GitRef,
	"branchName": GitRef, "newBranchName": GitRef, "startPoint": GitRef,
	"commit": GitRef, "commits": GitRef, "commitish": GitRef, "ref": GitRef,
	"upstream": GitRef, "onto": GitRef, "tagName": GitRef, "sinceTag": GitRef,
	"remoteBranch": GitRef, "stashRef": GitRef, "merged": GitRef, "noMerged": GitRef, "initialBranch": GitRef,

	"url": GitRemote, "repositoryUrl": GitRemote, "remote": GitRemote, "name": GitRemoteName, "newName": GitRemoteName,

	"worktreePath": WritePath, "newPath": WritePath, "localPath": WritePath,
}

// fetchArguments are such arguments of tools that send requests.
var fetchArguments = map[string]Role{
	"url": FetchURL, "headers": HTTPHeaders, "query": SearchQuery,
}

// tighten returns the annotation with two additions: roles for arguments to which the
// annotation gives none although the server is known to use them, and the usual behavior
// if the annotation has none. It never removes a role.
func (a *annotation) tighten(t Traits) *annotation {
	known := map[string]Role{}
	if t.Git {
		known = gitArguments
	} else if t.Fetch {
		known = fetchArguments
	}
	out := *a
	out.args = maps.Clone(a.args)
	if out.behavior == nil {
		out.behavior = usual()[a.key.tool].behavior
	}
	if out.behavior == nil {
		out.behavior = &Behavior{}
	}
	for name, arg := range a.args {
		role, ok := known[name]
		if !ok || slices.Contains(out.behavior.Flags, name) {
			continue
		}
		if !hasMeaning(arg.roles) {
			out.args[name] = argument{roles: append([]Role{role}, arg.roles...)}
		}
	}
	return &out
}

// hasMeaning reports whether values of any of the roles are checked.
func hasMeaning(list []Role) bool {
	for _, r := range list {
		if r.category() != opaque {
			return true
		}
	}
	return false
}
