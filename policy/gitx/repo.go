package gitx

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoRepository says that neither the directory nor one above it belongs to
// a repository.
var ErrNoRepository = errors.New("not inside a git repository")

// Repo is a repository as git would find it from a directory.
type Repo struct {
	WorkTree  string // empty for a bare repository
	GitDir    string
	CommonDir string // where the shared configuration is; GitDir without worktrees
	place     string // the directory in which it was found
	config    *config
	own       *config // the part of config that the repository itself brings
	view      *View
}

// Home tells where the user's own git configuration is. Its files are trusted.
type Home struct {
	Dir    string // home directory; empty: none
	System string // system-wide configuration file; empty: none
}

// files are the configuration files, in git's order.
func (h Home) files() []string {
	var files []string
	if h.System != "" {
		files = append(files, h.System)
	}
	if h.Dir != "" {
		files = append(files, filepath.Join(h.Dir, ".config/git/config"), filepath.Join(h.Dir, ".gitconfig"))
	}
	return files
}

// Open finds the repository of a directory, which must be resolved already,
// and reads its configuration. It returns ErrNoRepository when there is none.
func (v *View) Open(dir string) (*Repo, error) {
	r, err := discover(dir)
	if err != nil {
		return nil, err
	}
	if err := v.complete(r); err != nil {
		return nil, err
	}
	return r, nil
}

// complete reads the configuration of a repository that was found.
func (v *View) complete(r *Repo) error {
	r.view = v
	var err error
	if r.CommonDir, err = commonDir(r.GitDir); err != nil {
		return err
	}
	if err := r.readConfig(); err != nil {
		return err
	}
	r.moveWorkTree()
	return nil
}

// moveWorkTree follows the configuration when it puts the work tree elsewhere.
func (r *Repo) moveWorkTree() {
	if w := r.own.last("core", "", "worktree"); w != "" {
		r.WorkTree = absolute(r.GitDir, w)
	}
}

// discover goes up from a directory as git does.
func discover(dir string) (*Repo, error) {
	for {
		r, err := openAt(dir)
		switch {
		case err != nil:
			return nil, err
		case r != nil:
			return r, nil
		}
		bare, err := isGitDir(dir)
		if err != nil {
			return nil, err
		}
		if bare {
			return &Repo{GitDir: dir, place: dir}, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, ErrNoRepository
		}
		dir = parent
	}
}

// Begun reports whether a directory has something for a repository, whole or
// not, which git would complete rather than make one of its own there.
func Begun(dir string) bool { return exists(filepath.Join(dir, ".git")) }

// At reports whether the repository was found in the directory itself rather
// than above it.
func (r *Repo) At(dir string) bool { return r.place == dir }

// gitFile follows a .git file, which names the repository's directory.
func gitFile(name string) (string, error) {
	data, err := readFile(name, 4096)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	target = strings.TrimRight(target, "\r\n")
	if !ok || target == "" || strings.ContainsAny(target, "\n\x00") {
		return "", refuse("the .git file is malformed")
	}
	return absolute(filepath.Dir(name), target), nil
}

func commonDir(gitDir string) (string, error) {
	data, err := readFile(filepath.Join(gitDir, "commondir"), 4096)
	if err != nil || data == nil {
		return gitDir, err
	}
	return absolute(gitDir, strings.TrimRight(string(data), "\r\n")), nil
}

// absolute joins without cleaning away "..": links may stand in front of it.
func absolute(base, p string) string {
	if strings.HasPrefix(p, "/") {
		return p
	}
	return base + "/" + p
}

// userConfig reads the configuration of the system and of the user, once.
func (v *View) userConfig() (*config, error) {
	if v.user != nil {
		return v.user, nil
	}
	c := &config{}
	for _, file := range v.around.home.files() {
		if err := c.readTrusted(file, v.around.home.Dir, 0); err != nil {
			return nil, err
		}
	}
	c.entries = slices.Clip(c.entries) // every repository of the view continues it
	v.user = c
	return c, nil
}

// readConfig reads the configurations in git's order.
func (r *Repo) readConfig() error {
	user, err := r.view.userConfig()
	if err != nil {
		return err
	}
	r.own = &config{}
	files := []string{filepath.Join(r.CommonDir, "config")}
	for i := 0; i < len(files); i++ {
		c, err := r.view.settings(files[i])
		if err != nil {
			return err
		}
		if c.has("include") || c.has("includeif") {
			return refuse("the repository's configuration includes other files")
		}
		if i == 0 {
			perWorktree, known := boolean(c.last("extensions", "", "worktreeconfig"))
			if !known {
				return refuse("the repository's configuration has neither yes nor no for extensions.worktreeConfig")
			}
			if perWorktree {
				files = append(files, filepath.Join(r.GitDir, "config.worktree"))
			}
		}
		r.own.join(c)
	}
	r.config = &config{entries: append(user.entries, r.own.entries...)}
	if len(r.own.remotes()) > maxRemotes || len(r.own.rules("insteadof"))+len(r.own.rules("pushinsteadof")) > maxRemotes {
		return errRemotes
	}
	return nil
}

// readTrusted reads a file of the user's and what it includes. Conditional
// includes are followed as well, as long as they do not bear on addresses:
// whether their condition holds is for git to say.
func (c *config) readTrusted(file, home string, depth int) error {
	if depth > 5 {
		return refuse("the user's git configuration includes too deeply")
	}
	data, err := readFile(file, maxConfig)
	if err != nil {
		return err
	}
	read, err := parseConfig(data)
	if err != nil {
		return err
	}
	for _, e := range read.entries {
		if e.name != "path" || (e.section != "include" && e.section != "includeif") {
			c.entries = append(c.entries, e)
			continue
		}
		target := e.value
		if rest, ok := strings.CutPrefix(target, "~/"); ok {
			target = home + "/" + rest
		}
		before := len(c.entries)
		if err := c.readTrusted(absolute(filepath.Dir(file), target), home, depth+1); err != nil {
			return err
		}
		if e.section == "includeif" && bearsOnAddresses(c.entries[before:]) {
			return refuse("the user's git configuration rewrites addresses under a condition")
		}
	}
	return nil
}

func bearsOnAddresses(entries []entry) bool {
	for _, e := range entries {
		if e.section == "url" || e.section == "remote" || e.section == "branch" {
			return true
		}
	}
	return false
}

// Branch returns the name of the current branch, or "" when HEAD is detached.
func (r *Repo) Branch() string {
	target, _, err := readRef(filepath.Join(r.GitDir, "HEAD"))
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(target, "refs/heads/")
	if !ok {
		return ""
	}
	return branch
}
