package seen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Want is what was ordered.
type Want struct {
	UID, GID     int
	MemoryBytes  int64   // 0: no limit was ordered
	Pids         int64   // 0: no limit was ordered
	CPUs         float64 // 0: no limit was ordered
	Architecture string  // of the engine's machine, in Go's or the kernel's words; empty: any

	// Rootless means that an ordinary user runs the engine, with number 0 in the engine's own
	// namespace. Number 0 in the container is something else.
	Rootless bool
}

// seccompFilter is the mode of a process whose system calls are filtered.
const seccompFilter = 2

// Judge compares the report with what was ordered. If the isolation differs in anything, or anything
// of it is unknown, that is an error, and no agent may run. Limits that differ are warnings for the
// person, of a few words each.
func (s Seen) Judge(w Want) (warnings []string, err error) {
	var differs []string
	differs = append(differs, s.judgeUser(w)...)
	differs = append(differs, s.judgeProcess()...)
	differs = append(differs, s.judgeNetwork()...)
	if !s.RootReadOnly {
		differs = append(differs, "its root directory is writable")
	}
	if want := goArchitecture(w.Architecture); want != "" && s.Architecture != want {
		differs = append(differs, fmt.Sprintf("the bridge in it is for %q, the engine for %q", s.Architecture, want))
	}
	if len(differs) > 0 {
		return nil, fault.Wrap("check the container from inside",
			fmt.Errorf("it is not isolated as ordered: %s", strings.Join(differs, "; ")),
			"no agent was started; update the engine, or remove what changes its containers: a runtime, a wrapper, a plugin")
	}
	return s.judgeLimits(w), nil
}

// judgeUser returns what is wrong with the user and the groups.
func (s Seen) judgeUser(w Want) (differs []string) {
	uid, gid := s.UIDs[0], s.GIDs[0]
	if s.UIDs != [4]int{w.UID, w.UID, w.UID, w.UID} {
		differs = append(differs, fmt.Sprintf("it runs as user %v instead of %d", s.UIDs, w.UID))
	}
	if s.GIDs != [4]int{w.GID, w.GID, w.GID, w.GID} {
		differs = append(differs, fmt.Sprintf("it runs as group %v instead of %d", s.GIDs, w.GID))
	}
	for _, g := range s.Groups {
		if g != w.GID {
			differs = append(differs, fmt.Sprintf("it belongs to group %d as well", g))
		}
	}
	outside, mapped := translate(s.UIDMap, uid)
	outsideGroup, mappedGroup := translate(s.GIDMap, gid)
	switch {
	case !mapped || !mappedGroup:
		differs = append(differs, "its user or group has no number outside")
	case uid == 0 && (outside == 0 || outsideGroup == 0):
		// Root in the container may be anybody outside it, except the machine's root.
		differs = append(differs, "its user is root, also outside of it")
	case uid != 0 && outside == 0 && !w.Rootless:
		differs = append(differs, fmt.Sprintf("its user %d is root outside of it", uid))
	}
	return differs
}

// judgeProcess returns which privileges a process of the container has that it should not have.
func (s Seen) judgeProcess() (differs []string) {
	for _, set := range []struct {
		name string
		bits uint64
	}{
		{"effective", s.Capabilities.Effective},
		{"permitted", s.Capabilities.Permitted},
		{"bounding", s.Capabilities.Bounding},
		{"ambient", s.Capabilities.Ambient},
		{"inheritable", s.Capabilities.Inheritable},
	} {
		if set.bits != 0 {
			differs = append(differs, fmt.Sprintf("it has capabilities (%s: %#x)", set.name, set.bits))
		}
	}
	if !s.NoNewPrivs {
		differs = append(differs, "its programs can gain privileges")
	}
	if s.Seccomp != seccompFilter {
		differs = append(differs, fmt.Sprintf("its system calls are not filtered (seccomp mode %d)", s.Seccomp))
	}
	return differs
}

// judgeNetwork returns which interfaces there are beside loopback. Kernels with certain modules add
// tunnel interfaces to every namespace. One that is down and has no address is harmless, because
// without capabilities nobody can change that.
func (s Seen) judgeNetwork() (differs []string) {
	loopback := false
	for _, i := range s.Interfaces {
		switch {
		case i.Loopback:
			loopback = true
		case i.Up || len(i.Addresses) > 0:
			differs = append(differs, fmt.Sprintf("it has a network (%.80q)", strings.TrimSpace(i.Name+" "+strings.Join(i.Addresses, " "))))
		}
	}
	if !loopback {
		differs = append(differs, "it has no loopback interface")
	}
	return differs
}

// judgeLimits returns which limits differ.
func (s Seen) judgeLimits(w Want) (warnings []string) {
	warn := func(what string, is, want float64, show func(float64) string) {
		switch {
		case want == Unlimited || math.Abs(is-want) <= want/100:
		case is == Unlimited:
			warnings = append(warnings, what+" NOT limited")
		case is < 0:
			warnings = append(warnings, fmt.Sprintf("whether %s limited cannot be seen", what))
		default:
			warnings = append(warnings, fmt.Sprintf("%s limited to %s instead of %s", what, show(is), show(want)))
		}
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	warn("memory is", float64(s.MemoryMax), float64(w.MemoryBytes), size)
	warn("the number of processes is", float64(s.PidsMax), float64(w.Pids), number)
	warn("processor time is", s.CPUMax, w.CPUs, func(n float64) string { return number(n) + " processors" })
	return warnings
}

// size formats a number of bytes.
func size(n float64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GB", n/(1<<30))
	}
	return fmt.Sprintf("%.0f MB", n/(1<<20))
}

// goArchitecture returns Go's name of an architecture. Engines use the kernel's or Go's.
func goArchitecture(name string) string {
	switch name {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return name
}
