package cli

import (
	"runtime"
	"runtime/debug"
)

// release is the version that the build was given; see LDFLAGS in the Makefile.
var release string

// build describes the program itself.
type build struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns the version that the build was given. Without one it returns what the
// Go tool recorded: the module's version if that was installed, or the commit of a
// checkout.
func ThisBuild() build {
	b := build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
