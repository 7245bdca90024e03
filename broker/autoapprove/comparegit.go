package autoapprove

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// decode reads canonical arguments. A call with an unknown argument is not understood.
func decode(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("the call has arguments that are not understood")
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

// sameRemote compares the remote of the order with the address that git would contact. A
// name means the remote that it named before the agent started, and its host must be known.
func sameRemote(said string, q Question) error {
	g := q.Git
	if g == nil || len(g.Addresses) != 1 {
		return fmt.Errorf("git would connect to several addresses, or to none that is known")
	}
	if g.Odd != "" {
		return fmt.Errorf("git would do more than the call says: %s", g.Odd)
	}
	if !g.Root {
		return fmt.Errorf("the repository is not the workspace")
	}
	actual, err := gitx.ParseAddress(g.Addresses[0])
	if err != nil {
		return fmt.Errorf("the address to which git would connect is not understood")
	}
	if strings.Contains(said, ":") {
		named, err := gitx.ParseAddress(said)
		if err != nil || named.String() != actual.String() {
			return fmt.Errorf("git would connect to another address than the one named")
		}
		return nil
	}
	if !slices.Contains(q.Place.Known, actual.Host) {
		return fmt.Errorf("%s is not a host that is known", actual.Host)
	}
	if pinned, ok := g.Pinned[said]; ok {
		if pinned != actual.String() {
			return fmt.Errorf("the named remote has another address than when the session began")
		}
		return nil
	}
	if said != actual.Host {
		return fmt.Errorf("git would connect to another remote than the one named, or to one that was not there when the session began")
	}
	for _, pinned := range g.Pinned {
		if pinned == actual.String() {
			return nil
		}
	}
	return fmt.Errorf("the address was not a remote when the session began")
}

// gitCall reads the arguments of a git call. It returns an error if the call contacts another
// remote than the order names.
func gitCall(o order, q Question) (gitArguments, error) {
	var a gitArguments
	if err := decode(q.Arguments, &a); err != nil {
		return a, err
	}
	return a, sameRemote(o.remote, q)
}

// comparePush compares an order to push with a push.
func comparePush(o order, q Question) error {
	a, err := gitCall(o, q)
	if err != nil {
		return err
	}
	branch, meant := cmp.Or(a.Branch, q.Git.Branch), q.Git.Typed.Branch
	target := cmp.Or(a.RemoteBranch, branch)
	if branch == "" || strings.HasPrefix(branch, "refs/") || strings.HasPrefix(target, "refs/") || branch == "HEAD" {
		return fmt.Errorf("it is not clear which branch is meant")
	}
	switch {
	case a.Delete && o.verb != deleteBranch:
		return fmt.Errorf("deleting a branch was not ordered")
	case !a.Delete && o.verb == deleteBranch:
		return fmt.Errorf("the call pushes, and only deleting a branch was ordered")
	case a.Delete && (target != o.target || a.Tags || a.Force || a.Lease):
		return fmt.Errorf("another branch would be deleted than the one named")
	case a.Delete:
		return nil
	case o.branch == "" && meant == "":
		return fmt.Errorf("it is not known which branch was checked out when the order was typed")
	case o.flags.onlyTags && (!a.Tags || a.Branch != "" || a.RemoteBranch != ""):
		return fmt.Errorf("only tags were ordered")
	case o.branch != "" && branch != o.branch, o.branch == "" && o.target == "" && branch != meant:
		return fmt.Errorf("another branch would be pushed than the one meant")
	case o.target != "" && target != o.target, o.target == "" && target != branch:
		return fmt.Errorf("the call pushes to another branch than the one meant")
	case o.branch == "" && o.target != "" && branch != meant && branch != o.target:
		return fmt.Errorf("another branch would be pushed than the one meant")
	case a.Force && !o.flags.force:
		return fmt.Errorf("force was not ordered")
	case a.Lease && !o.flags.force && !o.flags.lease:
		return fmt.Errorf("force with lease was not ordered")
	case a.Tags && !o.flags.tags:
		return fmt.Errorf("tags were not ordered")
	}
	return nil
}

// compareFetch compares an order to fetch with a fetch.
func compareFetch(o order, q Question) error {
	a, err := gitCall(o, q)
	if err != nil {
		return err
	}
	switch {
	case a.Prune && !o.flags.prune:
		return fmt.Errorf("pruning was not ordered")
	case a.Tags && !o.flags.tags:
		return fmt.Errorf("tags were not ordered")
	case o.branch != "":
		return fmt.Errorf("the call fetches more than the branch named")
	}
	return nil
}

// comparePull compares an order to pull with a pull. A pull merges into the branch that is
// checked out and, without a name, takes that branch's upstream. So both must be the same as
// when the order was typed.
func comparePull(o order, q Question) error {
	a, err := gitCall(o, q)
	if err != nil {
		return err
	}
	g := q.Git
	switch {
	case g.Typed.Branch == "":
		return fmt.Errorf("it is not known which branch was checked out when the order was typed")
	case g.Branch != g.Typed.Branch || g.Upstream != g.Typed.Upstream:
		return fmt.Errorf("another branch is checked out than when the order was typed, or its upstream is another one")
	case a.Rebase && !o.flags.rebase:
		return fmt.Errorf("rebasing was not ordered")
	case a.Branch != o.branch && (o.branch != "" || a.Branch != g.Branch):
		return fmt.Errorf("another branch would be pulled than the one meant")
	}
	return nil
}

// cloneArguments are the arguments of a call that clones a repository. An order can name no others.
type cloneArguments struct {
	URL    string `json:"url"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Depth  int    `json:"depth"`
	Bare   bool   `json:"bare"`
	Mirror bool   `json:"mirror"`
}

// compareClone compares an order to clone with a clone.
func compareClone(o order, q Question) error {
	var a cloneArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	said, err := gitx.ParseAddress(o.url)
	if err != nil || q.Git == nil || len(q.Git.Addresses) != 1 || said.String() != q.Git.Addresses[0] || q.Git.Odd != "" {
		return fmt.Errorf("git would connect to another address than the one named")
	}
	switch {
	case a.Bare || a.Mirror || a.Branch != "":
		return fmt.Errorf("the clone would be of another kind than ordered")
	case len(o.paths) == 0 && !pathx.Within(a.Path, q.Place.Workspace):
		return fmt.Errorf("the clone would be outside the workspace, which was not ordered")
	case len(o.paths) == 1 && expand(o.paths[0], q.Place) != a.Path:
		return fmt.Errorf("the clone would be in another directory than the one named")
	}
	return nil
}
