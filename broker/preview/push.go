package preview

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// pushArguments are the arguments of a tool of the git server that pushes.
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

// push returns the effect of a push.
func (p *Previewer) push(ctx context.Context, a pushArguments) *Effect {
	d := p.newDraft(Push)
	repo, err := gitx.Open(a.Path, p.home())
	if err != nil {
		d.fail(err, "the commits to be sent cannot be shown")
		return d.done("pushes to %s", a.Remote)
	}
	if a.Remote == "" {
		a.Remote = repo.DefaultRemote(gitx.Push)
	}
	where := d.pushAddresses(repo, a.Remote, p.Known)
	d.flags(a)
	d.settings(repo, a)
	branch := cmp.Or(a.Branch, repo.Branch())
	target := cmp.Or(a.RemoteBranch, branch)
	d.fact("branch", branch)
	d.fact("target", target)
	switch {
	case a.Delete:
		d.warn("deletes %s at the remote", cmp.Or(a.Branch, a.RemoteBranch))
		return d.done("deletes %s at %s", cmp.Or(a.Branch, a.RemoteBranch), where)
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

// pushAddresses adds the addresses to which git would push, and warnings about them. It returns all.
func (d *draft) pushAddresses(repo *gitx.Repo, remote string, known []string) string {
	addresses, err := repo.Resolve(remote, gitx.Push)
	if err != nil {
		d.fail(err, "the address cannot be shown")
		d.Fails = err.Error()
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
		d.warn("the remote has %d addresses; everything is sent to each of them", len(all))
	}
	return strings.Join(all, " and ")
}

// flags warns of options that make a push do more than add commits.
func (d *draft) flags(a pushArguments) {
	if a.Force {
		d.warn("force: the remote's branch is replaced, including commits of others")
	}
	if a.Lease {
		d.warn("force with lease: the remote's branch is replaced if it is as last seen")
	}
	if a.Tags {
		d.warn("all tags are sent as well")
	}
	if a.Upstream {
		d.note("the remote branch becomes the branch's upstream")
	}
	if a.DryRun {
		d.note("dryRun: the remote is contacted, but nothing is sent")
	}
}

// settings warns of settings that make a push send more than the call names, or send it elsewhere.
func (d *draft) settings(repo *gitx.Repo, a pushArguments) {
	odd := func(section, subsection, name string, harmless ...string) {
		if v := repo.Setting(section, subsection, name); v != "" && !slices.Contains(harmless, strings.ToLower(v)) {
			d.fact(name, v)
			d.warn("the repository's settings send more than the call names, or send it elsewhere: %s.%s = %s", section, name, v)
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

// remoteNames returns the configured remotes with a name or address.
func remoteNames(repo *gitx.Repo, remote string) []string {
	want, err := repo.Resolve(remote, gitx.Push)
	if err != nil && slices.Contains(repo.Remotes(), remote) {
		return []string{remote} // its settings may have caused the error
	}
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
