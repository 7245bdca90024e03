package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// withMemory returns a command that first limits its own memory and that of its children, in bytes.
func withMemory(memory int64, argv []string) []string {
	if memory == 0 || runtime.GOOS != "linux" {
		return argv
	}
	return append([]string{"/bin/sh", "-c", fmt.Sprintf("ulimit -d %d && exec \"$@\"", memory>>10), "sh"}, argv...)
}

// boundedPrograms returns the environment of a server. If the server limits single programs, its
// PATH begins with a directory of scripts that lower the memory limit and then become the program.
// The server cannot write to the scripts.
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
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil { //nolint:gosec // the sandbox runs it
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
