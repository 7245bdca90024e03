package policy

import (
	"errors"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// gitDirectory resolves the directory of a git call before anything else, because the
// other arguments have a meaning only inside that directory. If the call names no
// directory or ".", the working directory is put in: the server may remember another one.
func (p *preparation) gitDirectory() error {
	arg, ok := p.tool.args["path"]
	if !ok {
		return nil
	}
	roles := arg.resolve(p.args, p.tool.schema)
	if !hasPathRole(roles) {
		roles = append(slices.Clone(roles), ReadPath)
	}
	v, present := p.args.Member("path")
	given := "."
	switch {
	case !present || v.Kind == jsonx.Null:
	case v.Kind != jsonx.String:
		return p.refuse(RuleInvalidArguments, "path", roles[0], "", "the value is not a string")
	default:
		given = v.Text
	}
	if slices.Contains([]string{"", ".", "./"}, given) {
		if given = p.call.WorkDir; given == "" {
			given = p.paths.Base
		}
		if given == "" {
			return p.refuse(RuleGitRepository, "path", roles[0], "", "no working directory is known")
		}
	}
	r, err := p.view.Resolve(given)
	if err != nil {
		return p.refuse(RuleInvalidPath, "path", firstPath(roles), given, err.Error())
	}
	p.root, p.rootRole = r, pathRoles(roles)
	p.args = p.args.With("path", jsonx.Text(r.Path))
	if err := p.addPath("path", p.rootRole, r); err != nil {
		return err
	}
	if r.Exists && r.Dir && (!p.tool.can(creates) || gitx.HasDotGit(r.Path)) {
		return p.openRepository(r)
	}
	return nil
}

// openRepository finds the repository that git would use, and records every directory of
// it that lies elsewhere.
func (p *preparation) openRepository(r pathx.Resolved) error {
	got, ok := p.repos[r.Path]
	if !ok {
		got = p.readRepository(r)
		if p.repos == nil {
			p.repos = map[string]*repository{}
		}
		p.repos[r.Path] = got
	}
	if got.err != nil {
		return p.refuse(RuleGitRepository, "path", p.rootRole[0], r.Path, got.err.Error())
	}
	if got.repo == nil {
		return nil
	}
	p.repo, p.nested, p.programs = got.repo, got.nested, got.programs
	for i, each := range append(slices.Clone(got.nested), got.repo) {
		if err := p.addRepository(r, each, &got.dirs[i]); err != nil {
			return err
		}
	}
	return nil
}

// repository is what was read about the repository that a call works in.
type repository struct {
	repo     *gitx.Repo   // nil when there is none and none is needed
	nested   []*gitx.Repo // the repositories that git also looks into, such as submodules
	dirs     []repoDirs   // of nested, then of repo
	programs []string     // programs that git would run for them
	err      error
}

func (p *preparation) readRepository(r pathx.Resolved) *repository {
	repo, err := p.git.Open(r.Path)
	creating := p.tool.can(creates)
	switch none := errors.Is(err, gitx.ErrNoRepository); {
	case none && !creating:
		return &repository{}
	case none || err == nil && creating && !repo.At(r.Path):
		err = errors.New("the directory has a .git that is not a repository")
	}
	if err != nil {
		return &repository{err: err}
	}
	got := &repository{repo: repo}
	if got.nested, got.err = repo.Nested(); got.err != nil {
		return got
	}
	got.dirs = make([]repoDirs, len(got.nested)+1)
	got.programs = repo.Programs(!p.tool.can(hookless), p.gitFixed)
	if p.tool.can(continues) {
		queued, err := repo.Queued()
		if err != nil {
			return &repository{err: err}
		}
		got.programs = append(got.programs, queued...)
	}
	for _, each := range got.nested {
		got.programs = append(got.programs, each.Programs(false, p.gitFixed)...)
	}
	return got
}

// repoDirs are the directories and files of a repository. They are looked up when first
// needed.
type repoDirs struct {
	names []string
	err   error
	known bool
}

// addRepository records the directories of one repository: the one that the call works
// in, or one that git also looks into.
func (p *preparation) addRepository(r pathx.Resolved, repo *gitx.Repo, dirs *repoDirs) error {
	if !dirs.known {
		dirs.names, dirs.err = repo.Dirs()
		dirs.known = true
	}
	if dirs.err != nil {
		return p.refuse(RuleGitRepository, "path", p.rootRole[0], r.Path, dirs.err.Error())
	}
	for _, dir := range dirs.names {
		got, err := p.view.ResolveTrusted(dir)
		if err != nil {
			return p.refuse(RuleGitRepository, "path", p.rootRole[0], dir, err.Error())
		}
		if pathx.Within(got.Path, r.Path) {
			if err := p.checkProtected("path", p.rootRole[0], got, itself); err != nil {
				return err
			}
			continue
		}
		if err := p.addRepositoryDir(got); err != nil {
			return err
		}
	}
	return nil
}

// addRepositoryDir records a directory outside the call's directory that the repository
// uses. It clears executes, because git writes there and not the agent.
func (p *preparation) addRepositoryDir(r pathx.Resolved) error {
	before := len(p.elements)
	err := p.addPath("path", p.rootRole, r)
	attached := slices.ContainsFunc(p.attached, func(dir string) bool { return pathx.Within(r.Path, dir) })
	for i := before; i < len(p.elements); i++ {
		p.elements[i].executes = ""
		p.elements[i].sandbox = p.elements[i].sandbox || attached
	}
	return err
}

// repoPathValue checks a path inside the repository. It refuses "..", pathspec magic, and
// values that look like options.
func (p *preparation) repoPathValue(name, s string) (string, error) {
	roles := p.rootRole
	if len(roles) == 0 {
		roles = []Role{ReadPath}
	}
	if why := checkRepoPath(s); why != "" {
		return s, p.refuse(RuleGitOption, name, RepoPath, s, why)
	}
	base := p.root.Path
	if base == "" {
		base = p.paths.Base
	}
	full, relative := s, !strings.HasPrefix(s, "/")
	if relative {
		full = base + "/" + s
	}
	r, err := p.resolveFrom(full, relative)
	if err != nil {
		return s, p.refuse(RuleInvalidPath, name, RepoPath, s, err.Error())
	}
	if !r.ViaLink && !pathx.Within(r.Path, base) && !p.inWorkTree(r.Path) {
		return s, p.refuse(RuleInvalidPath, name, RepoPath, s, "the path leaves the repository")
	}
	before := len(p.elements)
	if err := p.addPath(name, roles, r); err != nil {
		return s, err
	}
	if err := p.checkPattern(name, cleanRelative(s), base); relative && err != nil {
		return s, err
	}
	if !p.tool.can(restores) {
		for i := before; i < len(p.elements); i++ {
			p.elements[i].executes = "" // the call does not change the file
		}
	}
	forwarded := r.Path
	if relative {
		forwarded = plainRelative(s)
	}
	p.add([]Role{RepoPath}, element{argument: name, text: forwarded})
	return forwarded, nil
}

// plainRelative is the shortest spelling of an accepted path. It keeps a leading "./" if
// the path would otherwise look like an option, a pathspec or a home directory.
func plainRelative(s string) string {
	short := cleanRelative(s)
	if checkRepoPath(short) != "" {
		return "./" + short
	}
	return short
}

// inWorkTree reports whether a path lies in the repository's work tree. The directory
// that the call names may be a subdirectory of it.
func (p *preparation) inWorkTree(path string) bool {
	return p.repo != nil && p.repo.WorkTree != "" && pathx.Within(path, p.repo.WorkTree)
}

// resolveFrom resolves an absolute path. If host is true it is a path of the host;
// otherwise the agent wrote it, and it may begin with the mount point.
func (p *preparation) resolveFrom(full string, host bool) (pathx.Resolved, error) {
	if !host {
		return p.view.Resolve(full)
	}
	if err := pathx.Check(full); err != nil {
		return pathx.Resolved{}, err
	}
	return p.view.ResolveHost(full)
}

// cleanRelative removes "." and empty components.
func cleanRelative(s string) string {
	var out []string
	for part := range strings.SplitSeq(s, "/") {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return "."
	}
	return strings.Join(out, "/")
}

func hasPathRole(roles []Role) bool { return slices.ContainsFunc(roles, Role.IsPath) }

func pathRoles(roles []Role) []Role {
	return slices.DeleteFunc(slices.Clone(roles), func(r Role) bool { return !r.IsPath() })
}
