package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
)

// settings is the file that srt reads.
type settings struct {
	Network    networkSettings    `json:"network"`
	Filesystem filesystemSettings `json:"filesystem"`
}

type networkSettings struct {
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
	// Proxy gets the connections to some of the allowed domains.
	Proxy *proxySettings `json:"mitmProxy,omitempty"`
}

type proxySettings struct {
	Socket  string   `json:"socketPath"`
	Domains []string `json:"domains"`
}

type filesystemSettings struct {
	DenyRead   []string `json:"denyRead"`
	AllowRead  []string `json:"allowRead"`
	AllowWrite []string `json:"allowWrite"`
	DenyWrite  []string `json:"denyWrite"`
}

// hidden are directories of the person's home that no server may read. logins are files and
// directories in which other programs keep logins; no server may read those that exist.
var (
	hidden = []string{".ssh", ".gnupg", ".aws"}
	logins = []string{
		".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".docker/config.json",
		".kube", ".azure", ".config/gcloud", ".pypirc",
	}
)

// settingsFor returns the settings for one server. private is the server's private directory.
func (h *Host) settingsFor(c servers.Sandbox, private string) settings {
	s := settings{
		Network: networkSettings{
			AllowedDomains: append([]string{}, c.Network.AllowedDomains...),
			DeniedDomains:  append([]string{}, c.Network.DeniedDomains...),
		},
		Filesystem: filesystemSettings{
			AllowWrite: append([]string{h.options.Dir, private}, h.resolve(c.Filesystem.AllowWrite)...),
			DenyWrite:  h.resolve(c.Filesystem.DenyWrite),
			DenyRead:   h.resolve(c.Filesystem.DenyRead),
		},
	}
	if c.Network.Judged { // the server asks the proxy, and needs no network
		s.Network.AllowedDomains = []string{}
	}
	s.Filesystem.DenyRead = append(s.Filesystem.DenyRead, h.unreadable()...)
	// A writable path is also readable, even inside a hidden directory.
	s.Filesystem.AllowRead = slices.Concat(h.resolve(c.Filesystem.AllowRead), h.options.Programs, h.options.Readable)
	s.Filesystem.AllowRead = append(s.Filesystem.AllowRead, s.Filesystem.AllowWrite...)
	return s
}

// unreadable returns the paths that no server may read.
func (h *Host) unreadable() []string {
	var all []string
	if h.options.UserHome != "" {
		for _, name := range hidden {
			all = append(all, filepath.Join(h.options.UserHome, name))
		}
		for _, name := range logins {
			path := filepath.Join(h.options.UserHome, name)
			if _, err := os.Stat(path); err == nil {
				all = append(all, path)
			}
		}
	}
	if h.options.StateHome != "" {
		all = append(all, h.options.StateHome)
	}
	return all
}

// Reaches returns an error if a server that was started with a spec cannot access a path in this
// way.
func (h *Host) Reaches(s Spec, a stage.Access) error {
	if s.Sandbox.Off || h.unavailable != nil {
		return nil
	}
	f := h.settingsFor(s.Sandbox, h.scratch).Filesystem
	if (a.Write || a.Delete) && (!among(a.Path, f.AllowWrite) || among(a.Path, f.DenyWrite)) {
		return fmt.Errorf("the sandbox of server %s does not let the server change %s", s.Name, a.Path)
	}
	if a.Read && among(a.Path, f.DenyRead) && !among(a.Path, f.AllowRead) {
		return fmt.Errorf("the sandbox of server %s hides %s", s.Name, a.Path)
	}
	return nil
}

// among reports whether a canonical path is one of the directories or below one.
func among(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		resolved, err := filepath.EvalSymlinks(dir)
		return stage.Within(path, dir) || err == nil && stage.Within(path, resolved)
	})
}

// resolve makes paths of a configuration absolute: relative paths are below the session's directory,
// "~" is the home.
func (h *Host) resolve(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, p := range paths {
		switch {
		case p == "~" || strings.HasPrefix(p, "~/"):
			p = filepath.Join(h.options.UserHome, p[1:])
		case !filepath.IsAbs(p):
			p = filepath.Join(h.options.Dir, p)
		}
		all = append(all, filepath.Clean(p))
	}
	return all
}

// writeSettings writes the settings file of one server and returns its path.
func (h *Host) writeSettings(name string, s settings) (string, error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(h.scratch, name+".srt-settings.json")
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("write sandbox settings: %w", err)
	}
	return path, nil
}
