package docker

import (
	"strings"

	engine "github.com/fsouza/go-dockerclient"
	"golang.org/x/sys/unix"
)

// limitRefused reports whether a container did not start because its engine is confined itself:
// Podman raises what a container can have open and how many processes it can have, unless it is
// told of both.
func limitRefused(err error) bool {
	return err != nil && strings.Contains(err.Error(), "setting rlimit")
}

// ownLimits are the limits of this process on open files and on processes, as far as Podman
// itself goes: it gives itself no more than 32768 processes. An engine that may raise no limit is
// confined as this process is, or less.
func ownLimits() (all []engine.ULimit) {
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{{"nofile", unix.RLIMIT_NOFILE, 1 << 20}, {"nproc", unix.RLIMIT_NPROC, 1 << 15}} {
		var own unix.Rlimit
		if unix.Getrlimit(l.resource, &own) == nil {
			hard := int64(min(own.Max, l.most))
			all = append(all, engine.ULimit{Name: l.name, Soft: hard, Hard: hard})
		}
	}
	return all
}
