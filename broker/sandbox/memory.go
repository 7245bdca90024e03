package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// bounded is a command that bounds its memory and that of its children before it begins.
func bounded(memory int64, argv []string) []string {
	if memory == 0 || runtime.GOOS != "linux" {
		return argv
	}
	return append([]string{"/bin/sh", "-c", fmt.Sprintf("ulimit -d %d && exec \"$@\"", memory>>10), "sh"}, argv...)
}

// boundedPrograms is the environment of a server. In its PATH, first of all, are scripts
// that lower the bound of a program and become it. The server cannot write them.
func (h *Host) boundedPrograms(s Spec) ([]string, error) {
	env := h.environment(s.Env)
	if len(s.Programs) == 0 || runtime.GOOS != "linux" {
		return env, nil
	}
	dir := filepath.Join(h.scratch, s.Name+".bin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for name, memory := range s.Programs {
		path, err := exec.LookPath(name)
		if err != nil {
			return nil, err
		}
		script := fmt.Sprintf("#!/bin/sh\nulimit -d %d && exec %s \"$@\"\n", memory>>10, quote([]string{path}))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			return nil, err
		}
	}
	for i, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			env[i] = "PATH=" + dir + ":" + path
		}
	}
	return env, nil
}
