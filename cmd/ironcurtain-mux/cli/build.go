package cli

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
)

// release is the version that the build was given; see LDFLAGS in the Makefile.
var release string

// Build describes the program itself.
type Build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns the version that the build was given. Without one it returns what the
// Go tool recorded: the module's version if that was installed, or the commit of a
// checkout.
func ThisBuild() Build {
	b := Build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if b.Version != "" || !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (b.Version == "" || b.Version == "(devel)") {
			b.Version = s.Value
		}
	}
	return b
}

// ThisFile returns the path from which this program was started, and an identifier of its file. A
// file that has replaced it has another identifier. Both are empty if they cannot be found out.
func ThisFile() (path, build string) {
	path, err := os.Executable()
	if err != nil {
		return "", ""
	}
	if build = BuildOf(running); build == "" {
		build = BuildOf(path)
	}
	return path, build
}

// BuildOf returns an identifier of the file at a path; empty if there is no file.
func BuildOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%x-%x-%x", s.Dev, s.Ino, info.ModTime().UnixNano())
}
