package preview

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// GitFacts are the facts about a repository and its settings that matter for a git call.
type GitFacts struct {
	Addresses []string // the addresses that git would contact, canonical
	Branch    string   // the branch that is checked out; empty: none
	Upstream  string   // that branch's remote and ref, from the settings
	WorkTree  string   // the repository's working tree; empty: none
	Odd       string   // why the call may do more than its arguments say, or something else; empty: it does not
}

// Git returns the facts for a call to the git server. If a fact is not known, Odd says so.
func (p *Previewer) Git(c policy.Call) GitFacts {
	var a struct {
		pushArguments
		URL string `json:"url"`
	}
	if json.Unmarshal(c.Arguments, &a) != nil {
		return GitFacts{Odd: "the call's arguments are invalid"}
	}
	command := p.command(c)
	if command == "clone" {
		return p.cloneFacts(a.URL)
	}
	repo, err := gitx.Open(a.Path, p.home())
	if err != nil {
		return GitFacts{Odd: err.Error()}
	}
	direction := gitx.Direction(command == "push")
	if a.Remote == "" {
		a.Remote = repo.DefaultRemote(direction)
	}
	f := GitFacts{Branch: repo.Branch(), Upstream: upstream(repo), WorkTree: repo.WorkTree}
	addresses, err := repo.Resolve(a.Remote, direction)
	if err != nil {
		f.Odd = err.Error()
		return f
	}
	for _, address := range addresses {
		f.Addresses = append(f.Addresses, address.String())
	}
	if direction == gitx.Push {
		f.Odd = p.oddPush(repo, a.pushArguments)
	} else {
		f.Odd = p.oddPull(repo, a.Remote)
	}
	return f
}

// Head returns the branch that a directory's repository has checked out, and that branch's upstream from
// the settings. Both are empty if there is no repository or it cannot be read.
func (p *Previewer) Head(dir string) (branch, follows string) {
	repo, err := gitx.Open(dir, p.home())
	if err != nil || repo.WorkTree != dir {
		return "", ""
	}
	return repo.Branch(), upstream(repo)
}

// upstream returns the current branch's remote and ref from the settings.
func upstream(repo *gitx.Repo) string {
	branch := repo.Branch()
	return strings.Join(append(repo.Settings("branch", branch, "remote"), repo.Settings("branch", branch, "merge")...), " ")
}

func (p *Previewer) cloneFacts(url string) GitFacts {
	repo, err := gitx.Outside(p.home())
	if err != nil {
		return GitFacts{Odd: err.Error()}
	}
	addresses, err := repo.Resolve(url, gitx.Fetch)
	if err != nil {
		return GitFacts{Odd: err.Error()}
	}
	var f GitFacts
	for _, address := range addresses {
		f.Addresses = append(f.Addresses, address.String())
	}
	return f
}

// oddPush returns why a push would do something other than its arguments say, or "".
func (p *Previewer) oddPush(repo *gitx.Repo, a pushArguments) string {
	d := p.newDraft(Push)
	d.settings(repo, a)
	if w := d.Warnings(); len(w) > 0 {
		return w[0]
	}
	if a.Delete {
		return ""
	}
	branch := cmp.Or(a.Branch, repo.Branch())
	source, _, err := localRef(repo, a.Branch, branch)
	switch {
	case err != nil:
		return err.Error()
	case source != "refs/heads/"+branch:
		return "the call would send something other than a branch"
	}
	return ""
}

// oddPull returns why a fetch or pull would do something other than its arguments say, or "".
func (p *Previewer) oddPull(repo *gitx.Repo, remote string) string {
	odd := [][3]string{
		{"pull", "", "rebase"},
		{"branch", repo.Branch(), "rebase"},
		{"submodule", "", "recurse"},
		{"fetch", "", "recursesubmodules"},
		{"fetch", "", "prune"},
		{"fetch", "", "prunetags"},
		{"fetch", "", "all"},
	}
	names := remoteNames(repo, remote)
	for _, name := range names {
		odd = append(odd, [3]string{"remote", name, "prune"}, [3]string{"remote", name, "prunetags"}, [3]string{"remote", name, "tagopt"})
	}
	for _, setting := range odd {
		if v := strings.ToLower(repo.Setting(setting[0], setting[1], setting[2])); v != "" && v != "false" && v != "no" && v != "off" && v != "0" {
			return "the repository's settings change what the call does: " + setting[0] + "." + setting[2]
		}
	}
	if nested, err := repo.Nested(); err != nil || len(nested) > 0 {
		return "git would fetch submodules, too"
	}
	for _, name := range names {
		usual := []string{"+refs/heads/*:refs/remotes/" + name + "/*"}
		if got := repo.Settings("remote", name, "fetch"); len(got) > 0 && !slices.Equal(got, usual) {
			return "the repository's settings change what is fetched from " + name
		}
	}
	return ""
}

// Remotes returns the addresses of those remotes of a directory's repository that have exactly one, by
// name.
func (p *Previewer) Remotes(dir string) map[string]string {
	repo, err := gitx.Open(dir, p.home())
	if err != nil || repo.WorkTree != dir {
		return map[string]string{}
	}
	out := map[string]string{}
	for _, name := range repo.Remotes() {
		if addresses, err := repo.Resolve(name, gitx.Push); err == nil && len(addresses) == 1 {
			out[name] = addresses[0].String()
		}
	}
	return out
}
