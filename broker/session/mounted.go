package session

import (
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// describeMounts describes the mounts whose sources other agents may be able to replace:
// the workspace, if it was given, and the mounts inside it. The bridge compares the
// description with what the engine has mounted. It begins with a mount that no agent can
// replace.
func (s *Session) describeMounts(first docker.Mount, workspace []docker.Mount) (string, error) {
	if s.fixed.Workspace == s.layout.Sandbox() {
		return "", nil // no other agent can write to the sandbox's directory
	}
	var all []bridge.Mount
	for _, m := range append([]docker.Mount{{Source: stored.RealPath(first.Source), Target: first.Target}}, workspace...) {
		device, inode, err := dirtree.Identify(s.behindOwnLinks(m.Source))
		if err != nil {
			return "", fault.New("end other agents that work there, and try again", "look at what is to be mounted: %w", err)
		}
		all = append(all, bridge.Mount{Path: m.Target, Device: device, Inode: inode})
	}
	return bridge.DescribeMounts(all), nil
}

// behindOwnLinks resolves the links in the path of our state directory, which the person
// made, and no others.
func (s *Session) behindOwnLinks(path string) string {
	home := s.deps.Config.Home
	if below, ok := strings.CutPrefix(path, home+"/"); ok {
		return filepath.Join(stored.RealPath(home), below)
	}
	return path
}
