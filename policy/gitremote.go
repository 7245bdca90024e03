package policy

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

func (p *preparation) direction() gitx.Direction { return gitx.Direction(p.tool.can(pushes)) }

// remoteValue resolves a remote, given by name or by address, to all addresses that git
// would contact. It returns the value to forward: the resolved address if the server
// accepts one, otherwise the name. The verdict's digest includes the addresses, too.
func (p *preparation) remoteValue(name, s string) (string, error) {
	repo := p.repo
	if repo == nil {
		if _, known := p.tool.args["path"]; !known && !p.tool.can(creates) {
			return s, p.refuse(RuleGitRepository, name, GitRemote, s, "the tool does not say in which repository it works")
		}
		var err error
		if repo, err = p.git.Outside(); err != nil {
			return s, p.refuse(RuleGitRepository, name, GitRemote, s, err.Error())
		}
	}
	addresses, err := repo.Resolve(s, p.direction())
	if errors.Is(err, gitx.ErrUnknownRemote) {
		// Git contacts nothing. Rules without a domain still apply.
		if why := checkRef(GitRemoteName, s, false); why != "" {
			return s, p.refuse(RuleGitRemote, name, GitRemote, s, why)
		}
		p.add([]Role{GitRemote}, element{argument: name, text: s})
		return s, nil
	}
	if err != nil {
		return s, p.refuse(RuleGitRemote, name, GitRemote, s, err.Error())
	}
	if p.direction() == gitx.Push && p.repo != nil && p.pushesElsewhere() {
		return s, p.refuse(RuleGitRemote, name, GitRemote, s, "git's configuration pushes the branch to a branch with another name; give that name as remoteBranch")
	}
	for _, a := range addresses {
		p.addAddress(name, a)
	}
	if err := p.submodules(name, repo); err != nil {
		return s, err
	}
	if len(addresses) == 1 && repo.Pinned(addresses[0], p.direction()) && p.accepts(name, addresses[0].String()) {
		return addresses[0].String(), nil
	}
	if s != addresses[0].String() && !repo.Named(s) {
		return s, p.refuse(RuleGitRemote, name, GitRemote, s, "git would contact another address than the one given")
	}
	return s, nil
}

// pushesElsewhere reports whether git's configuration chooses the branch to push to, and
// chooses another branch than the call names.
func (p *preparation) pushesElsewhere() bool {
	if to, _ := p.args.Member("remoteBranch"); to.Text != "" {
		return false
	}
	branch, _ := p.args.Member("branch")
	return p.repo.PushesElsewhere(branch.Text)
}

func (p *preparation) addAddress(name string, a gitx.Address) {
	target := a.Target()
	p.add([]Role{GitRemote}, element{argument: name, text: a.String(), target: &target})
}

// submodules records the addresses of submodules, which git contacts besides the remote.
func (p *preparation) submodules(name string, repo *gitx.Repo) error {
	if repo != p.repo || p.tool.can(configures) {
		return nil
	}
	addresses, err := repo.Submodules(p.nested, p.direction())
	if err != nil {
		return p.refuse(RuleGitRemote, name, GitRemote, "", "a submodule: "+err.Error())
	}
	for _, a := range addresses {
		p.addAddress(name, a)
	}
	return nil
}

// accepts reports whether the tool's schema accepts the value.
func (p *preparation) accepts(name, value string) bool {
	return p.tool.schema.Check(p.args.With(name, jsonx.Text(value))) == nil
}

// defaultRemote adds the remote that git would choose, if the call names none. Then that
// remote is judged, and the server cannot choose another.
func (p *preparation) defaultRemote() error {
	if p.repo == nil {
		return nil
	}
	for _, name := range p.tool.names {
		roles := p.tool.args[name].resolve(p.args, p.tool.schema)
		if !slices.Contains(roles, GitRemote) {
			continue
		}
		if v, present := p.args.Member(name); present && v.Kind != jsonx.Null {
			return nil
		}
		if p.tool.can(configures) {
			return nil // the tool takes a URL only in some modes
		}
		value, err := p.remoteValue(name, p.repo.DefaultRemote(p.direction()))
		if err != nil {
			return err
		}
		p.args = p.args.With(name, jsonx.Text(value))
	}
	return nil
}

// gitObeys returns why git on the host would run or obey a file, or the files below a
// directory, because git's configuration names them. It returns "" if git would not.
func (p *preparation) gitObeys(r pathx.Resolved) string {
	states := make([]gitx.Dir, len(r.Idents()))
	for i, id := range r.Idents() {
		states[i] = gitx.Dir{Dev: id.Dev, Ino: id.Ino, Changed: r.Changed()[i]}
	}
	named, err := p.git.Obeyed(r.Path, states)
	for _, o := range named {
		if o.Names(r.Path, r.Exists) || o.Name != "" && p.reaches(r, o.Name) {
			return o.Why
		}
	}
	if err != nil {
		return "it is not known what git would run there: " + err.Error()
	}
	return ""
}

// reaches reports whether writing to r can change the file that a name resolves to. If r
// does not exist yet, it may be created as a directory with files in it.
func (p *preparation) reaches(r pathx.Resolved, name string) bool {
	to, err := p.view.ResolveTrusted(name)
	if err != nil {
		return within(r.Path, filepath.Clean(name))
	}
	return within(r.Path, to.Path) ||
		to.Exists && slices.Contains(r.Idents(), to.Ident) ||
		!to.Exists && !r.Exists && within(to.Path, r.Path)
}
