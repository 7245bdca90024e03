package preview

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// pushArguments are those of the git server's git_push.
type pushArguments struct {
	Path         string `json:"path"`
	Remote       string `json:"remote"`
	Branch       string `json:"branch"`
	RemoteBranch string `json:"remoteBranch"`
	Force        bool   `json:"force"`
	Lease        bool   `json:"forceWithLease"`
	Upstream     bool   `json:"setUpstream"`
	Tags         bool   `json:"tags"`
	DryRun       bool   `json:"dryRun"`
	Delete       bool   `json:"delete"`
}

// push is the effect of sending to a remote.
func (p *Previewer) push(ctx context.Context, a pushArguments) *Effect {
	d := p.newDraft(Push)
	repo, err := gitx.Open(a.Path, p.home())
	if err != nil {
		d.fail(err, "what would be sent cannot be shown")
		return d.done("pushes to %s", a.Remote)
	}
	if a.Remote == "" {
		a.Remote = repo.DefaultRemote(gitx.Push)
	}
	where := d.addresses(repo, a.Remote, p.Known)
	d.flags(a)
	d.settings(repo, a)
	branch := a.Branch
	if branch == "" {
		branch = repo.Branch()
	}
	target := a.RemoteBranch
	if target == "" {
		target = branch
	}
	switch {
	case a.Delete:
		d.warn("deletes %s at the remote", firstNonEmpty(a.Branch, a.RemoteBranch))
		return d.done("deletes %s at %s", firstNonEmpty(a.Branch, a.RemoteBranch), where)
	case branch == "" && a.RemoteBranch == "":
		d.warn("no branch is checked out; git decides what to send")
		return d.done("pushes to %s", where)
	}
	summary := d.outgoing(ctx, repo, a, branch, target)
	if a.Tags {
		d.tags(repo)
	}
	return d.done("pushes %s to %s at %s", summary, target, where)
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// addresses says where a remote is and warns of what is odd about it.
func (d *draft) addresses(repo *gitx.Repo, remote string, known []string) string {
	addresses, err := repo.Resolve(remote, gitx.Push)
	if err != nil {
		d.fail(err, "where it goes cannot be shown")
		return remote
	}
	var all []string
	for _, a := range addresses {
		all = append(all, a.String())
		d.fact("address", a.String())
		d.note("to %s", a.String())
		d.host(a.Scheme, a.Host, a.Port, known)
	}
	if len(all) > 1 {
		d.warn("the remote has %d addresses; everything goes to each of them", len(all))
	}
	return strings.Join(all, " and ")
}

// flags warns of what a push does beyond adding commits.
func (d *draft) flags(a pushArguments) {
	if a.Force {
		d.warn("force: what the remote has is replaced, whoever put it there")
	}
	if a.Lease {
		d.warn("force with lease: what the remote has is replaced if it is what was last seen")
	}
	if a.Tags {
		d.warn("all tags are sent as well")
	}
	if a.Upstream {
		d.note("the remote branch becomes the branch's upstream")
	}
	if a.DryRun {
		d.note("dryRun: the remote is asked, nothing is sent")
	}
}

// settings warns of settings of the repository that send more than was named.
func (d *draft) settings(repo *gitx.Repo, a pushArguments) {
	odd := func(section, subsection, name string, harmless ...string) {
		if v := repo.Setting(section, subsection, name); v != "" && !slices.Contains(harmless, strings.ToLower(v)) {
			d.fact(name, v)
			d.warn("the repository's settings send more than is named, or elsewhere: %s.%s = %s", section, name, v)
		}
	}
	if a.Branch == "" && a.RemoteBranch == "" {
		odd("push", "", "default", "simple", "current", "nothing")
	}
	odd("push", "", "followtags", "false", "no", "off", "0")
	odd("push", "", "recursesubmodules", "no", "false", "check")
	odd("push", "", "pushoption")
	for _, name := range remoteNames(repo, a.Remote) {
		odd("remote", name, "push")
		odd("remote", name, "mirror", "false", "no", "off", "0")
	}
}

// remoteNames are the configured remotes that a value means: the one of that
// name, or those whose address it is.
func remoteNames(repo *gitx.Repo, remote string) []string {
	want, err := repo.Resolve(remote, gitx.Push)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range repo.Remotes() {
		got, err := repo.Resolve(name, gitx.Push)
		if name == remote || err == nil && len(got) == 1 && len(want) == 1 && got[0].String() == want[0].String() {
			names = append(names, name)
		}
	}
	return names
}

// outgoing lists the commits that the remote does not have yet, as far as the
// workspace knows, and sums them up.
func (d *draft) outgoing(ctx context.Context, repo *gitx.Repo, a pushArguments, branch, target string) string {
	source, tip, err := localRef(repo, a.Branch, branch)
	if err != nil {
		d.fail(err, "%s", branch)
		return branch
	}
	d.fact("tip", tip)
	seen, bases, err := lastSeen(repo, a.Remote, target)
	if err != nil {
		d.fail(err, "what the remote has cannot be told")
	}
	d.fact("seen", seen)
	d.fact("bases", strings.Join(bases, " "))
	if shallow, err := readFile(filepath.Join(repo.CommonDir, "shallow")); err == nil {
		d.fact("shallow", digest(shallow))
	}
	if d.brief {
		return source
	}
	o, err := borrow(repo)
	if err != nil {
		d.warn("the commits cannot be shown: %v", err)
		return source
	}
	defer func() { _ = o.close() }()
	list, more, err := o.commits(ctx, tip, bases)
	if err != nil {
		d.warn("the commits cannot be shown: %v", err)
		return fmt.Sprintf("%s (%.12s)", source, tip)
	}
	if seen == "" {
		d.note("%s is new at the remote, as far as this repository knows", target)
	} else {
		d.note("the remote's %s was last seen at %.12s; that note lies in the workspace, where the agent can change it", target, seen)
	}
	d.list(list)
	d.lost(ctx, o, a, tip, seen)
	if more {
		d.warn("and more commits than the %d listed", maxCommits)
		return fmt.Sprintf("more than %d commits of %s (%.12s)", maxCommits, source, tip)
	}
	return fmt.Sprintf("%s of %s (%.12s)", plural(len(list), "commit"), source, tip)
}

// localRef finds what a branch argument means on this side.
func localRef(repo *gitx.Repo, given, branch string) (name, id string, err error) {
	candidates := []string{"refs/heads/" + branch}
	if given != "" {
		candidates = []string{"refs/tags/" + given, "refs/heads/" + given, "refs/remotes/" + given}
	}
	for _, full := range candidates {
		got, err := repo.Ref(full)
		if errors.Is(err, gitx.ErrNoRef) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		if id != "" {
			return "", "", fmt.Errorf("it is both %s and %s", name, full)
		}
		name, id = full, got
	}
	if id == "" && branch == "" {
		got, err := repo.Ref("HEAD")
		return "HEAD", got, err
	}
	if id == "" {
		return "", "", errors.New("there is no such branch or tag here")
	}
	return name, id, nil
}

// lastSeen is where the remote's branch was when it was last contacted, and
// everything that was seen of the remote.
func lastSeen(repo *gitx.Repo, remote, target string) (seen string, bases []string, err error) {
	for _, name := range remoteNames(repo, remote) {
		refs, err := repo.Refs("refs/remotes/" + name + "/")
		if err != nil {
			return "", nil, err
		}
		for ref, id := range refs {
			bases = append(bases, id)
			if ref == "refs/remotes/"+name+"/"+strings.TrimPrefix(target, "refs/heads/") {
				seen = id
			}
		}
	}
	slices.Sort(bases)
	return seen, slices.Compact(bases), nil
}

// list adds commits with their files.
func (d *draft) list(commits []commit) {
	for _, c := range commits {
		d.add(Item, fmt.Sprintf("%.12s %s  (%s)", c.id, c.subject, c.author))
		for _, f := range c.files {
			d.add(File, fmt.Sprintf("%c %s", f.status, f.path))
		}
	}
}

// lost lists what a forced push would take away.
func (d *draft) lost(ctx context.Context, o *objects, a pushArguments, tip, seen string) {
	if seen == "" || !a.Force && !a.Lease {
		return
	}
	gone, more, err := o.commits(ctx, seen, []string{tip})
	switch {
	case err != nil:
		d.warn("what the remote would lose cannot be shown: %v", err)
	case len(gone) > 0:
		d.warn("the remote would lose %s%s:", plural(len(gone), "commit"), map[bool]string{true: " and more"}[more])
		d.list(gone)
	}
}

// tags lists the tags that --tags sends.
func (d *draft) tags(repo *gitx.Repo) {
	refs, err := repo.Refs("refs/tags/")
	if err != nil {
		d.fail(err, "the tags cannot be shown")
		return
	}
	var names []string
	for name, id := range refs {
		names = append(names, fmt.Sprintf("tag %s (%.12s)", strings.TrimPrefix(name, "refs/tags/"), id))
	}
	slices.Sort(names)
	for _, n := range names {
		d.fact("tag", n)
		d.add(Item, n)
	}
}
