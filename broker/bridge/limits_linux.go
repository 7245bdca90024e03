package bridge

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// cgroups finds the resource limits of this process. They are in directories of one hierarchy (cgroup
// v2) or of one for each resource (v1). A container may see only its own directory, or those above
// it, too.
type cgroups struct {
	root   fs.FS
	mounts []cgroupMount
	paths  map[string]string // this process's directory by resource; "" is that of v2
}

// cgroupMount is a mounted hierarchy, or a part of one.
type cgroupMount struct {
	shows     string   // the directory of the hierarchy that is mounted
	at        string   // the mount point, without the leading slash
	resources []string // nil: all, in v2
}

// readCgroups finds the hierarchies. If it cannot, all limits are unknown.
func readCgroups(root fs.FS) cgroups {
	c := cgroups{root: root, paths: map[string]string{}}
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 3 {
			continue
		}
		m := cgroupMount{shows: place[3], at: strings.TrimPrefix(place[4], "/")}
		switch kind[0] {
		case "cgroup":
			m.resources = strings.Split(kind[2], ",")
			c.mounts = append(c.mounts, m)
		case "cgroup2":
			c.mounts = append(c.mounts, m)
		}
	}
	own, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for resource := range strings.SplitSeq(fields[1], ",") {
			c.paths[resource] = fields[2]
		}
	}
	return c
}

// find returns the directories that may limit a resource, the innermost first.
func (c cgroups) find(resource string) (dirs []string, v1, ok bool) {
	for _, m := range c.mounts {
		if slices.Contains(m.resources, resource) {
			return m.above(c.paths[resource]), true, true
		}
	}
	for _, m := range c.mounts {
		if m.resources == nil {
			return m.above(c.paths[""]), false, true
		}
	}
	return nil, false, false
}

// above returns a directory of the hierarchy and all those above it that the mount shows.
func (m cgroupMount) above(own string) (dirs []string) {
	below, shown := strings.CutPrefix(own, strings.TrimSuffix(m.shows, "/"))
	if !shown || below != "" && below[0] != '/' {
		below = ""
	}
	for dir := path.Join(m.at, below); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == m.at || !strings.HasPrefix(dir, m.at+"/") {
			return dirs
		}
	}
}

// least returns the smallest limit of a resource in any directory. read returns that of one
// directory; a missing file means that there is none.
func (c cgroups) least(resource string, read func(dir string, v1 bool) (float64, error)) float64 {
	dirs, v1, ok := c.find(resource)
	if !ok {
		return seen.Unknown
	}
	least := float64(seen.Unlimited)
	for _, dir := range dirs {
		limit, err := read(dir, v1)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return seen.Unknown
		case limit != seen.Unlimited && (least == seen.Unlimited || limit < least):
			least = limit
		}
	}
	return least
}

// noMemoryLimit is more bytes than any machine has. Version 1 has a larger number if there is no limit.
const noMemoryLimit = 1 << 60

func (c cgroups) memory() int64 {
	return int64(c.least("memory", func(dir string, v1 bool) (float64, error) {
		name := "memory.max"
		if v1 {
			name = "memory.limit_in_bytes"
		}
		n, err := c.number(dir, name)
		if n >= noMemoryLimit {
			n = seen.Unlimited
		}
		return n, err
	}))
}

func (c cgroups) pids() int64 {
	return int64(c.least("pids", func(dir string, _ bool) (float64, error) { return c.number(dir, "pids.max") }))
}

func (c cgroups) cpus() float64 {
	return c.least("cpu", func(dir string, v1 bool) (float64, error) {
		if v1 {
			quota, err := c.number(dir, "cpu.cfs_quota_us")
			if err != nil || quota <= 0 { // -1: no limit
				return seen.Unlimited, err
			}
			period, err := c.number(dir, "cpu.cfs_period_us")
			return ratio(quota, period, err)
		}
		text, err := fs.ReadFile(c.root, path.Join(dir, "cpu.max"))
		if err != nil {
			return 0, err
		}
		words := strings.Fields(string(text))
		if len(words) != 2 {
			return 0, strconv.ErrSyntax
		}
		quota, err := limit(words[0])
		if err != nil || quota == seen.Unlimited {
			return quota, err
		}
		period, err := limit(words[1])
		return ratio(quota, period, err)
	})
}

func ratio(quota, period float64, err error) (float64, error) {
	if err == nil && period <= 0 {
		err = strconv.ErrRange
	}
	if err != nil {
		return 0, err
	}
	return quota / period, nil
}

// number reads a file that contains a number, or "max" for no limit.
func (c cgroups) number(dir, name string) (float64, error) {
	text, err := fs.ReadFile(c.root, path.Join(dir, name))
	if err != nil {
		return 0, err
	}
	return limit(strings.TrimSpace(string(text)))
}

func limit(word string) (float64, error) {
	if word == "max" {
		return seen.Unlimited, nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	return float64(n), err
}
