package reach

import "strings"

// Files is how a container gets this machine's files.
type Files string

// How containers get files.
const (
	AutoFiles Files = "auto"   // try to share them; else copied
	Shared    Files = "shared" // directories of this machine are mounted into the container
	Copied    Files = "copied" // volumes of the engine are kept equal to directories of this machine
)

// FilesOf returns how an engine's containers get files, and whether that is certain. If it is not,
// shared files are to be tried, and copied ones if the engine does not see all directories. Sockets
// are mounted as files, so whoever wants sockets wants shared files.
func (w *Ways) FilesOf(address, version string) (f Files, certain bool) {
	switch {
	case w.WantedFiles != "" && w.WantedFiles != AutoFiles:
		return w.WantedFiles, true
	case w.Wanted == Sockets:
		return Shared, true
	case remote(address):
		return Copied, true
	case w.found(address, version).Files == Copied:
		return Copied, true
	}
	return Shared, false
}

// Copies reports whether it is known that the containers of an engine, of any version, get copies. It
// is for what people are told before there is a connection.
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

// DescribeFiles says briefly how the containers of an engine get files, and how that is known.
func (w *Ways) DescribeFiles(address, version string) string {
	const shared, copied = "shared: directories of this machine are mounted into containers", "copied: the engine does not see this machine's files"
	f, certain := w.FilesOf(address, version)
	switch {
	case w.WantedFiles == f:
		return string(f) + ": config.json wants it"
	case w.Wanted == Sockets:
		return shared + ", because config.json wants sockets"
	case f == Copied && remote(address):
		return copied + ", because it is on another machine"
	case f == Copied:
		return copied + "; a session has found that out when it started"
	case !certain && w.found(address, version).Files == Shared:
		return shared + "; that has worked for a session, and each start checks it again"
	}
	return shared + "; each start finds out whether the engine sees them"
}
