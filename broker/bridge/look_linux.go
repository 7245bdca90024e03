package bridge

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// Look returns the report of this process's container, without tokens. It needs no privileges. If it
// cannot find something out, that is an error, except for limits.
func Look() (seen.Seen, error) {
	const op = "examine the container"
	s, err := look(os.DirFS("/"))
	if err != nil {
		return seen.Seen{}, fmt.Errorf(op+": %w", err)
	}
	if s.Interfaces, err = interfaces(); err != nil {
		return seen.Seen{}, fmt.Errorf(op+": %w", err)
	}
	var root unix.Statfs_t
	if err := unix.Statfs("/", &root); err != nil {
		return seen.Seen{}, fmt.Errorf(op+": %w", err)
	}
	s.RootReadOnly = root.Flags&unix.ST_RDONLY != 0
	return s, nil
}

// look reads what the kernel shows in files below root.
func look(root fs.FS) (s seen.Seen, err error) {
	s.Version, s.Architecture = seen.Version, runtime.GOARCH
	status, err := readStatus(root)
	if err != nil {
		return s, err
	}
	if err := status.fill(&s); err != nil {
		return s, err
	}
	if s.UIDMap, err = readRanges(root, "proc/self/uid_map"); err != nil {
		return s, err
	}
	if s.GIDMap, err = readRanges(root, "proc/self/gid_map"); err != nil {
		return s, err
	}
	groups := readCgroups(root)
	s.MemoryMax, s.PidsMax, s.CPUMax = groups.memory(), groups.pids(), groups.cpus()
	return s, nil
}

// status is the content of a process's status file, by field.
type status map[string]string

func readStatus(root fs.FS) (status, error) {
	text, err := fs.ReadFile(root, "proc/self/status")
	if err != nil {
		return nil, err
	}
	all := status{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all[name] = strings.TrimSpace(value)
		}
	}
	return all, nil
}

// fill copies what matters to s. None of it may be missing.
func (all status) fill(s *seen.Seen) (err error) {
	failed := func(name string, cause error) {
		if cause != nil && err == nil {
			err = fmt.Errorf("the kernel shows %q as %s: %w", all[name], name, cause)
		}
	}
	for name, to := range map[string]*uint64{
		"CapEff": &s.Capabilities.Effective,
		"CapPrm": &s.Capabilities.Permitted,
		"CapBnd": &s.Capabilities.Bounding,
		"CapAmb": &s.Capabilities.Ambient,
		"CapInh": &s.Capabilities.Inheritable,
	} {
		var cause error
		*to, cause = strconv.ParseUint(all[name], 16, 64)
		failed(name, cause)
	}
	for name, to := range map[string]*[4]int{"Uid": &s.UIDs, "Gid": &s.GIDs} {
		numbers, cause := integers(all[name])
		if cause == nil && len(numbers) != len(to) {
			cause = fmt.Errorf("%d numbers were expected", len(to))
		}
		failed(name, cause)
		copy(to[:], numbers)
	}
	groups, known := all["Groups"]
	if !known {
		failed("Groups", fs.ErrNotExist)
	}
	var cause error
	s.Groups, cause = integers(groups)
	failed("Groups", cause)
	s.Seccomp, cause = strconv.Atoi(all["Seccomp"])
	failed("Seccomp", cause)
	s.NoNewPrivs = all["NoNewPrivs"] == "1"
	return err
}

func integers(text string) (all []int, err error) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// readRanges reads a map of user or group numbers.
func readRanges(root fs.FS, name string) (all []seen.Range, err error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		n, err := integers(line)
		if err != nil || len(n) != 3 {
			return nil, fmt.Errorf("the kernel shows %q in %s", line, name)
		}
		all = append(all, seen.Range{Inside: int64(n[0]), Outside: int64(n[1]), Count: int64(n[2])})
	}
	return all, nil
}

// interfaces lists the network interfaces of the container.
func interfaces() (all []seen.Interface, err error) {
	found, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		i := seen.Interface{Name: f.Name, Loopback: f.Flags&net.FlagLoopback != 0, Up: f.Flags&net.FlagUp != 0}
		addresses, err := f.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			i.Addresses = append(i.Addresses, a.String())
		}
		all = append(all, i)
	}
	return all, nil
}
