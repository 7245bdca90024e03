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

// Identify returns a digest that changes when a command line and an environment would start another
// program or another version of it. It covers the path of an installed server, which contains the
// digest of the lock file, the state of each file in the command line, and the version that Node.js
// reports, because node may be a script of a version manager. Identify returns "" if the first word
// is not a file at an absolute path.
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

// stateOf returns a text that changes with every change of a file, or "" if there is no such file.
// It contains the time of the inode's last change, which no program can set.
func stateOf(path string) string {
	var st unix.Stat_t
	if !filepath.IsAbs(path) || unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprint(st.Ino, st.Size, st.Mtim, st.Ctim)
}
