package gitx

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoRepository means that neither the directory nor one above it is in a repository.
var ErrNoRepository = errors.New("not inside a git repository")

// Repo is a repository as git would find it from a directory.
type Repo struct {
	WorkTree  string // empty for a bare repository
	GitDir    string
	CommonDir string // the shared repository; equal to GitDir without linked worktrees
	place     string // the directory in which it was found
	config    *config
	own       *config // the part of config from the repository itself
	view      *View
}

// Home says where the user's own git configuration is. Its files are trusted.
type Home struct {
	Dir    string // home directory; empty: none
	System string // system-wide configuration file; empty: none
}

// files returns the configuration files, in git's order.
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

// Open finds the repository of a directory and reads its configuration. The directory must
// be resolved already. Open returns ErrNoRepository when there is no repository.
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

// complete reads the configuration of a repository whose GitDir is known.
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

// moveWorkTree sets the work tree that the configuration names, if it names one.
func (r *Repo) moveWorkTree() {
	if w := r.own.last("core", "", "worktree"); w != "" {
		r.WorkTree = absolute(r.GitDir, w)
	}
}

// discover looks for a repository in a directory and those above it, as git does.
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

// HasDotGit reports whether a directory has a .git, complete or not. Git would complete it
// instead of creating a new repository there.
func HasDotGit(dir string) bool { return exists(filepath.Join(dir, ".git")) }

// At reports whether the repository was found in the directory itself, not above it.
func (r *Repo) At(dir string) bool { return r.place == dir }

// gitFile reads a .git file and returns the repository's directory that it names.
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

// absolute joins paths and keeps "..", because a link may come before it.
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
	c.entries = slices.Clip(c.entries) // every repository of the view appends to it
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
				return refuse("the repository's configuration sets extensions.worktreeConfig to neither true nor false")
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

// readTrusted reads a configuration file of the user and its includes. It also follows
// conditional includes, because it does not evaluate conditions. It refuses a conditional
// include that affects addresses.
func (c *config) readTrusted(file, home string, depth int) error {
	if depth > 5 {
		return refuse("the user's git configuration nests its includes too deeply")
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
		if e.section == "includeif" && affectsAddresses(c.entries[before:]) {
			return refuse("the user's git configuration rewrites addresses under a condition")
		}
	}
	return nil
}

func affectsAddresses(entries []entry) bool {
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
