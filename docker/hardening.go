package docker

import (
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	engine "github.com/fsouza/go-dockerclient"
	"golang.org/x/sys/unix"
)

// hostConfig returns the part of the specification that confines the process. It is the
// same for every container, except for mounts, limits and the size of the terminal.
func (s Spec) hostConfig(info Info) *engine.HostConfig {
	memory := limitMemory(s.MemoryMB, info.MemoryBytes)
	pids := int64(orDefault(s.Pids, defaultPids))
	cols, rows := s.size()
	h := &engine.HostConfig{
		NetworkMode:    "none",
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		ReadonlyRootfs: true,
		Privileged:     false,
		IpcMode:        "private",
		Init:           true,
		Runtime:        s.Runtime,
		AutoRemove:     false, // removal by the engine races with asking for the exit code
		RestartPolicy:  engine.NeverRestart(),
		Tmpfs:          s.inMemory(),
		ShmSize:        256 << 20,
		PidsLimit:      &pids,
		Memory:         memory,
		// Equal to Memory, which means no swap. The agent's data is not written to disk,
		// and a container out of memory is killed instead of slowing the machine down.
		MemorySwap: memory,
		NanoCPUs:   limitCPUs(s.CPUs, info.CPUs),
		// Half the usual weight, so that the person's terminal gets more of a busy
		// processor.
		CPUShares: 512,
		// This only lowers a limit. An engine that is itself confined cannot raise one, and
		// the container would not start.
		Ulimits:   []engine.ULimit{{Name: "core", Soft: 0, Hard: 0}},
		LogConfig: s.log(info.LogDrivers),
	}
	if !s.Detached {
		h.ConsoleSize = [2]int{rows, cols}
	}
	for _, m := range s.Mounts {
		h.Mounts = append(h.Mounts, engine.HostMount{
			Type: "bind", Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly,
			BindOptions: &engine.BindOptions{Propagation: "rprivate"},
		})
	}
	for _, v := range s.Volumes {
		h.Mounts = append(h.Mounts, v.mount())
	}
	return h
}

// Limits returns the limits of a container on that engine: memory in bytes, processors, and
// processes with threads.
func (s Spec) Limits(info Info) (memory int64, cpus float64, pids int64) {
	return limitMemory(s.MemoryMB, info.MemoryBytes), float64(limitCPUs(s.CPUs, info.CPUs)) / 1e9, int64(orDefault(s.Pids, defaultPids))
}

// temporary are the directories in memory that every container has, with their mount options.
var temporary = map[string]string{
	"/tmp":     "rw,exec,nosuid,nodev,mode=1777,size=1g",
	"/var/tmp": "rw,exec,nosuid,nodev,mode=1777,size=256m",
	"/run":     "rw,noexec,nosuid,nodev,mode=0755,size=16m",
}

// inMemory returns the container's directories in memory, with their mount options.
func (s Spec) inMemory() map[string]string {
	all := maps.Clone(temporary)
	for _, t := range s.Tmpfs {
		all[path.Clean(t.Target)] = t.options()
	}
	return all
}

// logDrivers are the drivers whose logs Replay can read, the fastest first, with their
// settings: the log is bounded.
var logDrivers = []engine.LogConfig{
	{Type: "local", Config: map[string]string{"max-size": "8m", "max-file": "2", "compress": "false"}},
	{Type: "k8s-file", Config: map[string]string{"max-size": "16m"}},
	{Type: "json-file", Config: map[string]string{"max-size": "16m", "max-file": "2"}},
}

// log returns how the engine keeps the output, so that Replay can show it after a restart of the
// multiplexer. has are the engine's drivers; if they are unknown, log returns the first. The output
// of a detached container is not kept.
func (s Spec) log(has []string) engine.LogConfig {
	if s.Detached {
		return engine.LogConfig{Type: "none"}
	}
	for _, c := range logDrivers {
		if slices.Contains(has, c.Type) {
			return c
		}
	}
	return logDrivers[0]
}

// limitMemory returns the memory limit in bytes: the requested one, but at most three
// quarters of the engine's memory.
func limitMemory(wantMB int, have int64) int64 {
	want := int64(orDefault(wantMB, defaultMemoryMB)) << 20
	if most := have / 4 * 3; have > 0 && want > most {
		return most
	}
	return want
}

// limitCPUs returns the processor limit in billionths of a processor: the requested
// one, but at most what the engine has, because it would refuse more.
func limitCPUs(want float64, have int) int64 {
	if want == 0 {
		want = defaultCPUs
	}
	if have > 0 {
		want = math.Min(want, float64(have))
	}
	return int64(math.Max(want, 0.01) * 1e9)
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// limitRefused reports whether a container did not start because its engine is itself confined:
// Podman raises a container's limits on open files and on processes unless both are given.
func limitRefused(err error) bool {
	return err != nil && strings.Contains(err.Error(), "setting rlimit")
}

// ownLimits returns the limits of this process on open files and on processes, but no more than Podman
// gives itself (2^20 files, 32768 processes). A confined engine has the same limits as this process,
// or higher ones.
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
