package policy

import (
	"maps"
	"slices"
)

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

// fetchArguments are the same for tools that send requests.
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
