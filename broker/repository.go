package broker

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// repositoryMounts keep an agent from planting what git would run for the person
// outside of the container: of a repository in a workspace that was given, its
// hooks and its configuration are read-only. What is a link there is left as it
// is: it would name another file in the container than it does here. The
// repository itself is a mount, too: what is one cannot be moved out of the way.
func repositoryMounts(workspace string) []docker.Mount {
	var mounts []docker.Mount
	for _, name := range []string{".git", ".git/config", ".git/hooks"} {
		if plainPath(workspace, name) {
			mounts = append(mounts, docker.Mount{
				Source: filepath.Join(workspace, name), Target: agent.Workspace + "/" + name, ReadOnly: name != ".git",
			})
		}
	}
	return mounts
}

// plainPath reports whether name is below dir, without a link on the way.
func plainPath(dir, name string) bool {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
