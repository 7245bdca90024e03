package policy

import (
	"maps"
	"slices"
)

// gitArguments are the arguments of git tools that hold more than text,
// whatever an annotation says of them.
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

// fetchArguments are those of servers that send requests.
var fetchArguments = map[string]Role{
	"url": FetchURL, "headers": HTTPHeaders, "query": SearchQuery,
}

// tighten returns the annotation with roles added to arguments that an
// annotation leaves without meaning although the server is known to give them
// one, and with the usual behavior where it says nothing of that. Roles are only
// ever added.
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

// hasMeaning reports whether any role leads to a check.
func hasMeaning(list []Role) bool {
	for _, r := range list {
		if r.category() != opaque {
			return true
		}
	}
	return false
}
