package gitx

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds on reading references.
const (
	maxRefs       = 10_000
	maxPackedRefs = 8 << 20
)

// maxRefEntries bounds the files and directories that are listed for references; tests
// lower it.
var maxRefEntries = 4 * maxRefs

// ErrNoRef means that a repository has no reference of that name.
var ErrNoRef = errors.New("there is no such reference")

var objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Remotes returns the names of the configured remotes, in order.
func (r *Repo) Remotes() []string { return r.config.remotes() }

// Setting returns the effective value of a variable from the user's configuration and the
// repository's own, or "".
func (r *Repo) Setting(section, subsection, name string) string {
	return r.config.last(section, subsection, name)
}

// Settings returns all values of a variable, in order.
func (r *Repo) Settings(section, subsection, name string) []string {
	return r.config.all(section, subsection, name)
}

// Ref returns the ID of the object that a full reference name such as "refs/heads/main" or
// "HEAD" points to. It follows symbolic references. It returns ErrNoRef if the reference
// does not exist.
func (r *Repo) Ref(name string) (string, error) {
	if err := r.plainRefs(); err != nil {
		return "", err
	}
	return r.follow(name, r.packedRefs)
}

// follow is Ref; packed returns the references that have no files of their own.
func (r *Repo) follow(name string, packed func() (map[string]string, error)) (string, error) {
	for range 5 {
		target, id, err := readRef(r.refFile(name))
		switch {
		case errors.Is(err, ErrNoRef):
			all, err := packed()
			if err != nil {
				return "", err
			}
			if id, ok := all[name]; ok {
				return id, nil
			}
			return "", ErrNoRef
		case err != nil:
			return "", err
		case id != "":
			return id, nil
		case !safeRef(target):
			return "", refuse("a symbolic reference of the repository is malformed")
		}
		name = target
	}
	return "", refuse("symbolic references of the repository form a loop")
}

// readRef reads the file of a reference. The file contains an object ID, or it is a
// symbolic reference to another reference: by its text or, in old repositories, as a link.
func readRef(file string) (target, id string, err error) {
	if link, err := os.Readlink(file); err == nil && strings.HasPrefix(link, "refs/") {
		return link, "", nil
	}
	data, err := readFile(file, 4096)
	if err != nil {
		return "", "", err
	}
	if data == nil {
		return "", "", ErrNoRef
	}
	const space = " \t\r\n"
	text := strings.TrimRight(string(data), space)
	if target, symbolic := strings.CutPrefix(text, "ref:"); symbolic {
		return strings.TrimLeft(target, space), "", nil
	}
	if !objectID.MatchString(text) {
		return "", "", refuse("a reference of the repository is malformed")
	}
	return "", text, nil
}

// Refs returns the references below a prefix such as "refs/tags/", with the IDs of their
// objects.
func (r *Repo) Refs(prefix string) (map[string]string, error) {
	if err := r.plainRefs(); err != nil {
		return nil, err
	}
	all, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, id := range all {
		if strings.HasPrefix(name, prefix) {
			out[name] = id
		}
	}
	loose := looseRefs{commonDir: r.CommonDir}
	if err := loose.list(strings.TrimSuffix(prefix, "/"), 0); err != nil {
		return nil, err
	}
	for _, name := range loose.names {
		if id, err := r.follow(name, func() (map[string]string, error) { return all, nil }); err == nil {
			out[name] = id
		}
	}
	return out, nil
}

// plainRefs refuses repositories that store references in a format that is not supported
// here.
func (r *Repo) plainRefs() error {
	if storage := r.own.last("extensions", "", "refstorage"); storage != "" && storage != "files" {
		return refuse("the repository stores its references in a format that cannot be read without git")
	}
	return nil
}

// safeRef reports whether a name is the path of a file inside the repository.
func safeRef(name string) bool {
	if name == "HEAD" {
		return true
	}
	parts := strings.Split(name, "/")
	return strings.HasPrefix(name, "refs/") && !slices.Contains(parts, "..") && !slices.Contains(parts, ".") &&
		!slices.Contains(parts, "") && checkArgument(name) == nil
}

// refFile returns the file of a reference that is not packed. HEAD belongs to the work
// tree, all others to the shared repository.
func (r *Repo) refFile(name string) string {
	if !safeRef(name) {
		return filepath.Join(r.CommonDir, "refs", "no such name") // no reference contains a space
	}
	if name == "HEAD" {
		return filepath.Join(r.GitDir, name)
	}
	return filepath.Join(r.CommonDir, filepath.FromSlash(name))
}

// packedRefs reads the packed-refs file.
func (r *Repo) packedRefs() (map[string]string, error) {
	data, err := readFile(filepath.Join(r.CommonDir, "packed-refs"), maxPackedRefs)
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		id, name, ok := strings.Cut(lines.Text(), " ")
		if ok && objectID.MatchString(id) && safeRef(name) {
			refs[name] = id
		}
	}
	return refs, lines.Err()
}

// looseRefs collects the names of references that have files of their own.
type looseRefs struct {
	commonDir string
	names     []string
	seen      int // entries listed so far, which bounds how many directories are read
}

// list adds the references in a directory and below it.
func (l *looseRefs) list(dir string, depth int) error {
	entries, err := list(filepath.Join(l.commonDir, filepath.FromSlash(dir)), maxRefs)
	if os.IsNotExist(err) {
		return nil
	}
	l.seen += len(entries)
	if err != nil && !errors.Is(err, errTooMany) {
		return refuse("the references of the repository cannot be listed")
	}
	if err != nil || depth > 16 || len(l.names)+len(entries) > maxRefs || l.seen > maxRefEntries {
		return refuse("more than %d references of the repository have files of their own, or are in too many directories", maxRefs)
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			if err := l.list(name, depth+1); err != nil {
				return err
			}
		} else if e.Type().IsRegular() && safeRef(name) {
			l.names = append(l.names, name)
		}
	}
	return nil
}
