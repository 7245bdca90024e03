package reach

import "strings"

// Files is how a container gets the files that this machine has for it.
type Files string

// The two kinds of files, and what leaves it to trying.
const (
	AutoFiles Files = "auto"   // shared where the engine sees them, which is tried; else copied
	Shared    Files = "shared" // directories of this machine are mounted into the container
	Copied    Files = "copied" // volumes of the engine's, kept equal to directories of this machine
)

// FilesOf returns how an engine's containers get files, and whether that is certain. Where it is
// not, shared files are tried: the engine may not see a directory of this machine, or not all of
// them, and then they are copied. Mounted sockets are files, so whoever wants them wants shared files.
func (w *Ways) FilesOf(address, version string) (f Files, certain bool) {
	switch {
	case w.WantedFiles != "" && w.WantedFiles != AutoFiles:
		return w.WantedFiles, true
	case w.Wanted == Sockets:
		return Shared, true
	case elsewhere(address):
		return Copied, true
	case w.found(address, version).Files == Copied:
		return Copied, true
	}
	return Shared, false
}

// Copies reports whether it is known that the containers of an engine get copies. Its version does not
// matter, so this is for what people are told before there is a connection.
func (w *Ways) Copies(address string) bool {
	if f, certain := w.FilesOf(address, ""); certain {
		return f == Copied
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.read()
	for engine, found := range all {
		if err == nil && found.Files == Copied && strings.HasPrefix(engine, engineKey(address, "")) {
			return true
		}
	}
	return false
}

// DescribeFiles says in a few words how the containers of an engine get files, and how that is known.
func (w *Ways) DescribeFiles(address, version string) string {
	const shared, copied = "shared: directories of this machine are mounted into containers", "copied: the engine does not see this machine's files"
	f, certain := w.FilesOf(address, version)
	switch {
	case w.WantedFiles == f:
		return string(f) + ": config.json wants it"
	case w.Wanted == Sockets:
		return shared + ", as the sockets are that config.json wants"
	case f == Copied && elsewhere(address):
		return copied + ", as it is another machine"
	case f == Copied:
		return copied + "; the start of a session has found that out"
	case !certain && w.found(address, version).Files == Shared:
		return shared + "; a session has found its own there, and each start looks again"
	}
	return shared + "; each start finds out whether the engine sees them"
}
