package gitx

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnknownRemote means that the repository has no remote of that name.
var ErrUnknownRemote = errors.New("the repository has no such remote")

// Direction says whether git fetches or pushes.
type Direction bool

// The directions.
const (
	Fetch Direction = false
	Push  Direction = true
)

// DefaultRemote returns the name of the remote that git uses when none is given.
func (r *Repo) DefaultRemote(d Direction) string {
	branch := r.Branch()
	if d == Push {
		if branch != "" {
			if name := r.config.last("branch", branch, "pushremote"); name != "" {
				return name
			}
		}
		if name := r.config.last("remote", "", "pushdefault"); name != "" {
			return name
		}
	}
	if branch != "" {
		if name := r.config.last("branch", branch, "remote"); name != "" {
			return name
		}
	}
	if names := r.config.remotes(); len(names) == 1 {
		return names[0]
	}
	return "origin"
}

// Resolve returns all addresses that git would contact for a remote, given by name or by
// address, after all rewriting rules. It refuses anything but plain network addresses. For
// a name that is not configured it returns ErrUnknownRemote.
func (r *Repo) Resolve(remote string, d Direction) ([]Address, error) {
	if err := checkArgument(remote); err != nil {
		return nil, err
	}
	if looksLikeAddress(remote) && r.isName(remote) {
		return nil, refuse("the repository has a remote whose name is this address")
	}
	raw := []string{remote}
	rewritePush := d == Push
	if !looksLikeAddress(remote) {
		var err error
		if raw, rewritePush, err = r.configured(remote, d); err != nil {
			return nil, err
		}
	}
	addresses := make([]Address, 0, len(raw))
	for _, u := range raw {
		a, err := ParseAddress(r.rewrite(u, rewritePush))
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, a)
	}
	return addresses, nil
}

// PlainRemotes reports whether a list of the remotes shows only the repository's own
// configuration, and only names, network addresses without credentials, and local paths.
func (r *Repo) PlainRemotes() bool {
	own := &Repo{config: r.own, own: r.own}
	known := r.own.remotes()
	for _, name := range r.config.remotes() {
		if !slices.Contains(known, name) || strings.ContainsAny(name, ":@") {
			return false
		}
		for _, variable := range []string{"url", "pushurl"} {
			urls := r.config.all("remote", name, variable)
			if !slices.Equal(urls, own.config.all("remote", name, variable)) {
				return false
			}
			for _, u := range urls {
				for _, push := range []bool{false, true} {
					if shown := r.rewrite(u, push); shown != own.rewrite(u, push) || !plain(shown) {
						return false
					}
				}
			}
		}
	}
	return true
}

func plain(u string) bool {
	_, err := ParseAddress(u)
	return err == nil || (strings.HasPrefix(u, "/") || strings.HasPrefix(u, "./") || strings.HasPrefix(u, "../")) && !strings.Contains(u, "@")
}

// Pinned reports whether git contacts exactly this address when the address is given to
// git: no rewriting rule changes it, and it is not the name of a remote.
func (r *Repo) Pinned(a Address, d Direction) bool {
	return r.rewrite(a.String(), d == Push) == a.String() && !r.isName(a.String())
}

// isName reports whether a value is the name of a remote or a group of remotes. Git tries
// names first, even if the value looks like an address.
func (r *Repo) isName(s string) bool {
	return slices.Contains(r.config.remotes(), s) || len(r.config.all("remotes", "", strings.ToLower(s))) > 0
}

// pushesMore reports whether the repository's configuration makes a push to the remote do
// more than update the branch that a call names: push everything or tags, push by force,
// delete, or push to another branch. A push for review changes no branch.
func (r *Repo) pushesMore(name string) bool {
	if mayBeTrue(r.own.last("remote", name, "mirror")) || r.own.last("push", "", "default") == "matching" ||
		mayBeTrue(r.own.last("push", "", "followtags")) {
		return true
	}
	return slices.ContainsFunc(r.own.all("remote", name, "push"), func(spec string) bool {
		from, to, mapped := strings.Cut(spec, ":")
		review := strings.HasPrefix(to, "refs/for/") || strings.HasPrefix(to, "refs/changes/")
		return strings.HasPrefix(spec, "+") || from == "" || strings.Contains(from, "*") || mapped && to != from && !review
	})
}

// PushesElsewhere reports whether a push of a branch that does not name the branch at the
// remote would go to a branch of another name. An empty branch means the current one.
func (r *Repo) PushesElsewhere(branch string) bool {
	if mode := r.config.last("push", "", "default"); mode != "upstream" && mode != "tracking" {
		return false
	}
	if branch = strings.TrimPrefix(strings.TrimPrefix(branch, "refs/"), "heads/"); branch == "" {
		branch = r.Branch()
	}
	return slices.ContainsFunc(r.config.all("branch", branch, "merge"), func(to string) bool { return to != "refs/heads/"+branch })
}

// configured returns the addresses of a named remote before rewriting, and whether
// pushInsteadOf applies to them.
func (r *Repo) configured(name string, d Direction) (urls []string, rewritePush bool, err error) {
	if strings.ContainsAny(name, "/\\:") || name == "." || name == ".." {
		return nil, false, refuse("the remote is a local path")
	}
	for _, legacy := range []string{"remotes", "branches"} {
		if r.CommonDir != "" && exists(filepath.Join(r.CommonDir, legacy, name)) {
			return nil, false, refuse("the remote is configured in an obsolete file")
		}
	}
	for _, variable := range []string{"vcs", "uploadpack", "receivepack", "proxy"} {
		if r.own.last("remote", name, variable) != "" {
			return nil, false, refuse("the repository's configuration makes the remote start a program or use a proxy")
		}
	}
	if d == Push && r.pushesMore(name) {
		return nil, false, refuse("the repository's configuration makes a push to the remote send more than the named branch")
	}
	urls, pushURLs := r.config.all("remote", name, "url"), r.config.all("remote", name, "pushurl")
	if slices.Contains(urls, "") || slices.Contains(pushURLs, "") {
		// Since 2.46, git drops the addresses before an empty one; earlier it used them.
		return nil, false, refuse("the remote has an empty address, which versions of git treat differently")
	}
	if d == Push && len(pushURLs) > 0 {
		return pushURLs, false, nil
	}
	if len(urls) > 0 {
		return urls, d == Push, nil
	}
	if r.isName(name) {
		return nil, false, refuse("the name matches several remotes")
	}
	return nil, false, ErrUnknownRemote
}

// rewrite applies url.<base>.insteadOf. For pushing it tries pushInsteadOf first.
func (r *Repo) rewrite(u string, push bool) string {
	if push {
		if out, ok := r.rewriteBy(u, "pushinsteadof"); ok {
			return out
		}
	}
	out, _ := r.rewriteBy(u, "insteadof")
	return out
}

// rewriteBy applies the rules of one variable. The longest match wins. Among equal ones,
// the base wins whose first rule comes earliest, even if that rule does not match. An
// empty rule matches every address.
func (r *Repo) rewriteBy(u, variable string) (string, bool) {
	longest, rank, base := -1, 0, ""
	for _, rule := range r.config.rules(variable) {
		if strings.HasPrefix(u, rule.from) && (len(rule.from) > longest || len(rule.from) == longest && rule.rank < rank) {
			longest, rank, base = len(rule.from), rule.rank, rule.base
		}
	}
	if longest < 0 {
		return u, false
	}
	return base + u[longest:], true
}
