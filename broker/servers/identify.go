package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Identify returns a digest that is another one as soon as a command line or an environment would
// start another program, or another version of it. The path of an installed server has the digest
// of the lock file in it; the state of a file tells its versions apart, as does what Node.js
// says of itself, which may be a script of a version manager. Identify returns "" if the first
// word is no file at an absolute path.
func (d Dir) Identify(argv []string, env map[string]string) string {
	if len(argv) == 0 || stateOf(argv[0]) == "" {
		return ""
	}
	h := sha256.New()
	add := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	add(d.version)
	for _, word := range argv {
		add(word)
		add(stateOf(word))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		add(name)
		add(env[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stateOf returns what changes with every change of a file; "" if there is no such file. The time
// of the last change of an inode is one that nobody can set.
func stateOf(path string) string {
	var st unix.Stat_t
	if !filepath.IsAbs(path) || unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprint(st.Ino, st.Size, st.Mtim, st.Ctim)
}
