package autoapprove

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// decode reads canonical arguments; one that nobody knows makes the call one
// that is not understood.
func decode(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errf("the call has arguments that are not understood")
	}
	return nil
}

// gitArguments are those of the git tools that contact a remote.
type gitArguments struct {
	Path         string `json:"path"`
	Remote       string `json:"remote"`
	Branch       string `json:"branch"`
	RemoteBranch string `json:"remoteBranch"`
	Force        bool   `json:"force"`
	Lease        bool   `json:"forceWithLease"`
	SetUpstream  bool   `json:"setUpstream"`
	Tags         bool   `json:"tags"`
	DryRun       bool   `json:"dryRun"`
	Delete       bool   `json:"delete"`
	Confirmed    bool   `json:"confirmed"`
	Prune        bool   `json:"prune"`
	Depth        int    `json:"depth"`
	Rebase       bool   `json:"rebase"`
	FastForward  bool   `json:"fastForwardOnly"`
}

// sameRemote compares the remote that was ordered with what git would contact. A
// name means what it meant before the agent began, on a host that is known.
func sameRemote(said string, q Question) error {
	g := q.Git
	if g == nil || len(g.Addresses) != 1 {
		return errf("where git would connect to is not one address")
	}
	if g.Odd != "" {
		return errf("git would do more than the call says: %s", g.Odd)
	}
	if !g.Root {
		return errf("the repository is not the workspace")
	}
	actual, err := gitx.ParseAddress(g.Addresses[0])
	if err != nil {
		return errf("where git would connect to is not understood")
	}
	if strings.Contains(said, ":") {
		named, err := gitx.ParseAddress(said)
		if err != nil || named.String() != actual.String() {
			return errf("git would connect to another address than the one named")
		}
		return nil
	}
	if !slices.Contains(q.Place.Known, actual.Host) {
		return errf("%s is not a host that is known", actual.Host)
	}
	if pinned, ok := g.Pinned[said]; ok {
		if pinned != actual.String() {
			return errf("the remote named is another one")
		}
		return nil
	}
	if said != actual.Host {
		return errf("the remote named is another one, or was not there when the session began")
	}
	for _, pinned := range g.Pinned {
		if pinned == actual.String() {
			return nil
		}
	}
	return errf("the address was not a remote when the session began")
}

// comparePush compares an order to push with a git_push.
func comparePush(o order, q Question) error {
	var a gitArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	if err := sameRemote(o.remote, q); err != nil {
		return err
	}
	branch := a.Branch
	if branch == "" {
		branch = q.Git.Branch
	}
	target := a.RemoteBranch
	if target == "" {
		target = branch
	}
	if branch == "" || strings.HasPrefix(branch, "refs/") || strings.HasPrefix(target, "refs/") || branch == "HEAD" {
		return errf("which branch is meant is not clear")
	}
	if (o.verb == deleteBranch) != a.Delete {
		return errf("deleting has to be ordered, and only deleting is")
	}
	switch {
	case a.Delete && (target != o.target || a.Tags || a.Force || a.Lease):
		return errf("another branch would be deleted than the one named")
	case a.Delete:
		return nil
	case o.flags["only tags"] && (!a.Tags || a.Branch != "" || a.RemoteBranch != ""):
		return errf("only tags were ordered")
	case o.branch != "" && branch != o.branch, o.branch == "" && o.target == "" && branch != q.Git.Branch:
		return errf("another branch would be pushed than the one meant")
	case o.target != "" && target != o.target, o.target == "" && target != branch:
		return errf("it would be pushed to another branch than the one meant")
	case o.branch == "" && o.target != "" && branch != q.Git.Branch && branch != o.target:
		return errf("another branch would be pushed than the one meant")
	case a.Force && !o.flags["force"]:
		return errf("force was not ordered")
	case a.Lease && !o.flags["force"] && !o.flags["lease"]:
		return errf("force with lease was not ordered")
	case a.Tags && !o.flags["tags"]:
		return errf("tags were not ordered")
	}
	return nil
}

// compareFetch compares an order to fetch with a git_fetch.
func compareFetch(o order, q Question) error {
	var a gitArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	if err := sameRemote(o.remote, q); err != nil {
		return err
	}
	switch {
	case a.Prune && !o.flags["prune"]:
		return errf("pruning was not ordered")
	case a.Tags && !o.flags["tags"]:
		return errf("tags were not ordered")
	case o.branch != "":
		return errf("the call fetches more than the branch named")
	}
	return nil
}

// comparePull compares an order to pull with a git_pull.
func comparePull(o order, q Question) error {
	var a gitArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	if err := sameRemote(o.remote, q); err != nil {
		return err
	}
	branch := a.Branch
	if branch == "" {
		branch = q.Git.Branch
	}
	switch {
	case a.Rebase && !o.flags["rebase"]:
		return errf("rebasing was not ordered")
	case o.branch != "" && branch != o.branch, o.branch == "" && branch != q.Git.Branch:
		return errf("another branch would be pulled than the one meant")
	}
	return nil
}

// compareClone compares an order to clone with a git_clone.
func compareClone(o order, q Question) error {
	var a struct {
		URL    string `json:"url"`
		Path   string `json:"path"`
		Branch string `json:"branch"`
		Depth  int    `json:"depth"`
		Bare   bool   `json:"bare"`
		Mirror bool   `json:"mirror"`
	}
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	said, err := gitx.ParseAddress(o.url)
	if err != nil || q.Git == nil || len(q.Git.Addresses) != 1 || said.String() != q.Git.Addresses[0] || q.Git.Odd != "" {
		return errf("git would connect to another address than the one named")
	}
	switch {
	case a.Bare || a.Mirror || a.Branch != "":
		return errf("the clone would be of another kind than ordered")
	case len(o.paths) == 0 && !pathx.Within(a.Path, q.Place.Workspace):
		return errf("the clone would lie outside the workspace, where nobody ordered it")
	case len(o.paths) == 1 && expand(o.paths[0], q.Place) != a.Path:
		return errf("the clone would lie elsewhere than ordered")
	}
	return nil
}
