package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// settings is the file that srt reads.
type settings struct {
	Network    networkSettings    `json:"network"`
	Filesystem filesystemSettings `json:"filesystem"`
}

type networkSettings struct {
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
}

type filesystemSettings struct {
	DenyRead   []string `json:"denyRead"`
	AllowRead  []string `json:"allowRead"`
	AllowWrite []string `json:"allowWrite"`
	DenyWrite  []string `json:"denyWrite"`
}

// hidden are directories of the home that no server may read.
var hidden = []string{".ssh", ".gnupg", ".aws"}

// settingsFor makes the settings of one server. private is its own directory.
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
	if c.Network.Judged { // the server asks the proxy; nothing leaves its sandbox
		s.Network.AllowedDomains = []string{}
	}
	if h.options.UserHome != "" {
		for _, name := range hidden {
			s.Filesystem.DenyRead = append(s.Filesystem.DenyRead, filepath.Join(h.options.UserHome, name))
		}
	}
	if h.options.StateHome != "" {
		s.Filesystem.DenyRead = append(s.Filesystem.DenyRead, h.options.StateHome)
	}
	// A writable path is readable, even inside a hidden one.
	s.Filesystem.AllowRead = append(h.resolve(c.Filesystem.AllowRead), h.options.Readable...)
	s.Filesystem.AllowRead = append(s.Filesystem.AllowRead, s.Filesystem.AllowWrite...)
	return s
}

// resolve makes paths of a configuration absolute: relative ones are below the
// session's directory, "~" is the home.
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

// writeSettings writes the file for one server and returns its path.
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
