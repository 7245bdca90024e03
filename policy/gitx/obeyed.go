package gitx

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Obeyed is something that git on the host would run or obey because a
// configuration names it.
type Obeyed struct {
	// Why says what git does with the file or command. It quotes nothing from the
	// configuration.
	Why string
	// Name is a file, or a directory with everything below it. It is absolute, and links
	// in it are not followed. It is empty for a command; see Names.
	Name    string
	command string // what the shell gets, in lower case
	top     string // the directory in which the command is started
}

// changesDirectory matches a command that changes its directory.
var changesDirectory = regexp.MustCompile(`(?:^|[^a-z0-9_.-])(?:cd|chdir|pushd)[ \t]`)

// goesElsewhere reports whether a command may change its working directory.
func (o Obeyed) goesElsewhere() bool {
	return (strings.Contains(o.command, "cd") || strings.Contains(o.command, "chdir") || strings.Contains(o.command, "pushd")) &&
		changesDirectory.MatchString(o.command)
}

// Names reports whether a command names a file, by its absolute path, or by its path from
// the directory in which the command is started. If the command changes its directory, a
// path from any directory below counts as well. If the file does not exist, a name of
// something below it counts as well.
func (o Obeyed) Names(path string, exists bool) bool {
	if o.command == "" || path == "" || path == o.top || strings.HasPrefix(o.top, path+"/") {
		return false
	}
	if !strings.Contains(o.command, strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])) {
		return false // most commands
	}
	name, below := strings.CutPrefix(path, o.top+"/")
	if !below {
		var err error
		if name, err = filepath.Rel(o.top, path); err != nil {
			return false
		}
	}
	if o.mentions(name, exists, o.meansTop) {
		return true
	}
	if !below {
		return o.mentions(path, exists, func(prefix string, _ bool) bool { return prefix == "" })
	}
	if !o.goesElsewhere() {
		return false
	}
	for {
		_, rest, below := strings.Cut(name, "/")
		if !below {
			return false
		}
		name = rest
		if o.mentions(name, exists, func(prefix string, _ bool) bool { return prefix == "" || strings.HasSuffix(prefix, "/") }) {
			return true
		}
	}
}

// mentions reports whether a word of the command ends with the name, after a prefix that
// leads to the directory from which the name starts. leads decides about the prefix; it
// gets the prefix and whether the shell computes any part of it. The time is linear in the
// length of the command, however often the name occurs in it.
func (o Obeyed) mentions(name string, exists bool, leads func(prefix string, computed bool) bool) bool {
	name = strings.ToLower(name)
	distinct := exists || strings.ContainsAny(name, "./") // without them, "test" could be an ordinary word
	seen, word, computed := 0, 0, false
	for at := 0; ; at++ {
		i := strings.Index(o.command[at:], name)
		if i < 0 {
			return false
		}
		at += i
		between := o.command[seen:at]
		if sep := strings.LastIndexAny(between, " \t\n\"'=;&|<>(!"); sep >= 0 {
			word, computed, between = seen+sep+1, false, between[sep+1:]
		}
		computed = computed || strings.ContainsAny(between, "$`)}")
		seen = at
		prefix, end := o.command[word:at], at+len(name)
		switch {
		case !leads(prefix, computed) || end < len(o.command) && inName(o.command[end]):
		case end < len(o.command) && o.command[end] == '/':
			if !exists {
				return true
			}
		case distinct || prefix != "":
			return true
		}
	}
}

// meansTop reports whether the prefix of a name in a command can mean the directory in
// which the command is started.
func (o Obeyed) meansTop(prefix string, computed bool) bool {
	return prefix == "" || prefix == "./" || prefix == strings.ToLower(o.top)+"/" ||
		computed && strings.HasSuffix(prefix, "/")
}

// inName reports whether a character after a name continues the name.
func inName(c byte) bool {
	return isAlnum(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '@' || c >= 0x80
}

// Obeyed returns what git would run or obey because of the configurations of repositories
// around a file: those whose work trees contain the file, and the others in the workspace,
// whose configurations can name any file of the workspace. The file's path must be
// resolved already. Files in .git, and files that programs find by their names, are not
// returned. states are the states of the existing directories on the way to the file,
// outermost first.
func (v *View) Obeyed(path string, states []Dir) ([]Obeyed, error) {
	s := v.around
	l := gathered{view: v}
	depth := strings.Count(path, "/")
	for dir := path; dir != ""; {
		dir, depth = dir[:strings.LastIndexByte(dir, '/')], depth-1
		switch {
		case depth > len(states):
		case depth > 0 && states[depth-1].Changed != 0 && s.lacksRepository(dir, states[depth-1]): //nolint:gosec // the case above bounds the index
		default:
			l.add(dir)
		}
		if dir == s.base {
			for _, above := range s.above {
				l.add(above)
			}
			own := len(l.errs)
			for _, below := range s.below() {
				if !strings.HasPrefix(path, below+"/") {
					l.add(below)
				}
			}
			l.errs = append(l.errs[:own], slices.DeleteFunc(l.errs[own:], gitStops)...) // git fails and runs nothing
			break
		}
	}
	return l.found, errors.Join(l.errs...)
}

// maxWork bounds the work of comparing the files of one call with commands, in bytes of
// the commands.
const maxWork = 64 << 20

// gathered is what the repositories of several directories name.
type gathered struct {
	view  *View
	found []Obeyed
	errs  []error
}

// add adds what the repository of a work tree names, if there is one.
func (g *gathered) add(dir string) {
	v := g.view
	p, ok := v.places[dir]
	if !ok {
		l := lister{View: v}
		l.at(dir)
		p = &place{found: l.found, errs: l.errs}
		for _, o := range p.found {
			p.weight += 256 + len(o.command)
		}
		if v.places == nil {
			v.places = map[string]*place{}
		}
		v.places[dir] = p
	}
	v.work += p.weight
	if err := v.ended(); err != nil {
		g.errs = append(g.errs, err)
		return
	}
	if len(g.found) > maxObeyed || v.work > maxWork {
		g.errs = append(g.errs, errObeyed)
		return
	}
	g.found, g.errs = append(g.found, p.found...), append(g.errs, p.errs...)
}

// place is what the repository of one work tree names.
type place struct {
	found  []Obeyed
	errs   []error
	weight int
}

// lister collects what the configurations of a repository name.
type lister struct {
	*View
	top   string // the work tree
	found []Obeyed
	errs  []error
}

// at collects what the repository of a work tree names, if there is one.
func (l *lister) at(dir string) {
	gitDir, whole := l.gitDir(dir)
	if gitDir == "" {
		return
	}
	common := gitDir
	if !whole {
		shared := l.look(gitDir+"/commondir", asLine)
		if shared.err != nil {
			l.errs = append(l.errs, shared.err)
		}
		if shared.text != "" {
			common = absolute(gitDir, shared.text)
		}
	}
	config := common + "/config"
	own := l.look(config, asSettings)
	l.top = dir
	if own.worktree != "" {
		l.top = workTree(absolute(gitDir, own.worktree))
	}
	l.config(config, 0)
	if own.perWorktree {
		l.config(gitDir+"/config.worktree", 0)
	}
	for _, file := range l.around.home.files() {
		l.config(file, 0)
	}
	l.hooks(common + "/hooks")
}

// workTree resolves the links in the path of a work tree that a configuration names.
func workTree(dir string) string {
	if got, err := filepath.EvalSymlinks(dir); err == nil {
		return got
	}
	return filepath.Clean(dir)
}

// maxObeyed bounds the result, and with it the includes that are followed.
const maxObeyed = 10_000

var errObeyed = refuse("git configurations name too many files and programs to check")

// config collects what a configuration file names, and what its includes name. It follows
// conditional includes whatever their condition is.
func (l *lister) config(file string, depth int) {
	if depth > 10 { // git's own limit
		l.errs = append(l.errs, &Error{Reason: "a git configuration nests its includes too deeply", fatal: true})
		return
	}
	read := l.look(file, asSettings)
	if read.err != nil {
		l.errs = append(l.errs, read.err)
		return
	}
	for _, e := range read.settings {
		if len(l.found) >= maxObeyed {
			if !slices.Contains(l.errs, errObeyed) {
				l.errs = append(l.errs, errObeyed)
			}
			return
		}
		switch name := e.section + "." + e.name; name {
		case "include.path", "includeif.path":
			if target, ok := l.file(e.value, file[:strings.LastIndexByte(file, '/')]); ok {
				l.found = append(l.found, Obeyed{Name: target, Why: "git's configuration includes the file"})
				l.config(target, depth+1)
			}
		case "core.hookspath":
			if target, ok := l.file(e.value, l.top); ok {
				l.found = append(l.found, Obeyed{Name: target, Why: "git's configuration names it as the directory of hooks (core.hooksPath)"})
				l.hooks(target)
			}
		case "core.attributesfile":
			if target, ok := l.file(e.value, l.top); ok {
				l.found = append(l.found, Obeyed{Name: target, Why: "git runs the filters it names"})
			}
		default:
			l.found = append(l.found, Obeyed{command: e.value, top: l.top, Why: "git's configuration names it as a program to run (" + e.family() + ")"})
		}
	}
}

// file makes the name of a file in a configuration absolute. It returns false for names
// that cannot lie in a workspace, such as those that begin with "~user" or "%(prefix)".
func (l *lister) file(value, base string) (string, bool) {
	value = strings.TrimPrefix(value, ":(optional)")
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		home := l.around.home.Dir
		return home + "/" + rest, home != ""
	}
	return absolute(base, value), value != "" && !strings.HasPrefix(value, "~") && !strings.HasPrefix(value, "%(")
}

// hooks collects the links in a directory of hooks.
func (l *lister) hooks(dir string) {
	read := l.look(dir, asHooks)
	for _, name := range read.links {
		l.found = append(l.found, Obeyed{Name: name, Why: "a hook of the repository is a link to it"})
	}
	if read.err != nil {
		l.errs = append(l.errs, read.err)
	}
}
