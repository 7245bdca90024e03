package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

const defaultSocket = "/var/run/docker.sock"

// known returns the engine for a person who has chosen none: the first of the well-known sockets
// that the person may use, else the first that exists, else the system's.
func known(getenv func(string) string, home string) Endpoint {
	return firstOf(wellKnownSockets(getenv, home))
}

// firstOf is known for a list that begins with the system's socket.
func firstOf(list []namedSocket) Endpoint {
	existing := slices.DeleteFunc(slices.Clone(list), func(s namedSocket) bool { return !isSocket(s.path) })
	usable := slices.IndexFunc(existing, func(s namedSocket) bool { return unix.Access(s.path, unix.W_OK) == nil })
	chosen := list[0]
	if len(existing) > 0 {
		chosen = existing[max(usable, 0)]
	}
	return Endpoint{Address: "unix://" + chosen.path, Source: chosen.name}
}

type namedSocket struct{ path, name string }

// wellKnownSockets lists where engines listen when nothing is configured, the more usual ones first.
func wellKnownSockets(getenv func(string) string, home string) []namedSocket {
	list := []namedSocket{{defaultSocket, "the system's socket"}}
	runtime := getenv("XDG_RUNTIME_DIR")
	if runtime != "" {
		list = append(list, namedSocket{filepath.Join(runtime, "docker.sock"), "rootless engine"})
	}
	mine := "/run/user/" + strconv.Itoa(os.Getuid())
	list = append(list, namedSocket{mine + "/docker.sock", "rootless engine"})
	if home != "" {
		for _, s := range []namedSocket{
			{".docker/run/docker.sock", "Docker Desktop"},
			{".docker/desktop/docker.sock", "Docker Desktop"},
			{".colima/default/docker.sock", "Colima"},
			{".colima/docker.sock", "Colima"},
			{".config/colima/default/docker.sock", "Colima"},
			{".orbstack/run/docker.sock", "OrbStack"},
			{".rd/docker.sock", "Rancher Desktop"},
		} {
			list = append(list, namedSocket{filepath.Join(home, s.path), s.name})
		}
	}
	list = append(list, namedSocket{"/run/podman/podman.sock", podman})
	if runtime != "" {
		list = append(list, namedSocket{filepath.Join(runtime, "podman/podman.sock"), rootlessPodman})
	}
	list = append(list, namedSocket{mine + "/podman/podman.sock", rootlessPodman})
	if home != "" {
		list = append(list, namedSocket{filepath.Join(home, ".local/share/containers/podman/machine/podman.sock"), podmanMachine})
	}
	if temp := getenv("TMPDIR"); temp != "" {
		list = append(list, namedSocket{filepath.Join(temp, "podman/podman-machine-default-api.sock"), podmanMachine})
	}
	return list
}

// What Podman's sockets are called, for people.
const (
	podman         = "Podman"
	rootlessPodman = "rootless Podman"
	podmanMachine  = "Podman machine"
)

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}
