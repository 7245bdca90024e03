package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Bounds on one run of a tool.
const (
	toolTime  = 30 * time.Second
	maxOutput = 1 << 20 // bytes of standard output
	maxError  = 4 << 10 // bytes of standard error
)

// needed are the variables by which tools find their configuration and programs. A final * stands
// for any ending. Case is ignored.
var needed = []string{
	"HOME", "PATH", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "VIRTUAL_ENV",
	"NPM_CONFIG_*", "PNPM_CONFIG_*", "YARN_*", "COREPACK_HOME", "NVM_*", "VOLTA_HOME", "ASDF_*", "MISE_*", "PYENV_*",
	"PIP_*", "UV_*", "NETRC",
	"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOENV", "GOROOT", "GOPATH",
	"CARGO_HOME", "CARGO_REGISTRY_*", "CARGO_REGISTRIES_*", "CARGO_SOURCE_*", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
}

// quiet are variables that keep tools from downloading and updating themselves and from telemetry.
var quiet = []string{
	"LC_ALL=C.UTF-8", "NO_COLOR=1", "COLUMNS=1000", "CI=1",
	"NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_LOGS_MAX=0", "COREPACK_ENABLE_NETWORK=0", "COREPACK_ENABLE_DOWNLOAD_PROMPT=0",
	"YARN_ENABLE_TELEMETRY=0", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
	"GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=", "GO111MODULE=on", "RUSTUP_AUTO_INSTALL=0",
}

// environment returns the person's variables that tools need, quiet, and more.
func (h Host) environment(more ...string) []string {
	var env []string
	for _, v := range h.Env {
		name, value, ok := strings.Cut(v, "=")
		if ok && isNeeded(name) {
			if name == "PATH" {
				value = absolutePaths(value)
			}
			env = append(env, name+"="+value)
		}
	}
	return slices.Concat(env, quiet, more)
}

// isNeeded reports whether needed lists a variable.
func isNeeded(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(needed, func(n string) bool {
		prefix, open := strings.CutSuffix(n, "*")
		return name == n || open && strings.HasPrefix(name, prefix)
	})
}

// Variables returns the names of the environment variables by which tools find their configuration,
// and of those that the person's npmrc refers to. Another process that asks later needs them, too.
func (h Host) Variables() []string {
	var names []string
	for _, v := range h.Env {
		if name, _, ok := strings.Cut(v, "="); ok && isNeeded(name) {
			names = append(names, name)
		}
	}
	path := cmp.Or(h.value("NPM_CONFIG_USERCONFIG"), h.value("npm_config_userconfig"), filepath.Join(h.Home, ".npmrc"))
	for _, m := range variable.FindAllSubmatch(readFile(path), -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// absolutePaths removes relative directories from a search path.
func absolutePaths(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// value returns a variable of the person's environment, or "".
func (h Host) value(name string) string {
	found := ""
	for _, v := range h.Env {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			found = value
		}
	}
	return found
}

// find returns the path of the first of the named programs that is installed, or "".
func (h Host) find(names ...string) string {
	for _, name := range names {
		for _, dir := range filepath.SplitList(absolutePaths(h.value("PATH"))) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

// ask runs a program in dir, or in an empty directory if dir is "", and returns its trimmed output.
// The error is one line without logins.
func (h Host) ask(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	if dir == "" {
		empty, done, err := h.empty()
		if err != nil {
			return "", err
		}
		defer done()
		dir = empty
	}
	ctx, cancel := context.WithTimeoutCause(ctx, toolTime, fmt.Errorf("no answer within %v", toolTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(h.environment(env...), "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, complaint := &bounded.Buffer{Most: maxOutput, Err: errors.New("too much output")}, &bounded.Buffer{Most: maxError}
	cmd.Stdout, cmd.Stderr = out, complaint
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.Over():
		err = fmt.Errorf("more than %d bytes of output", maxOutput)
	case err != nil && complaint.String() != "":
		err = errors.New(text.Drawable(text.FirstLine(strings.TrimSpace(complaint.String()), 200)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %s", strings.Join(append([]string{filepath.Base(program)}, args...), " "), withoutLogins(err.Error()))
	}
	return strings.TrimSpace(out.String()), nil
}

// system returns a path of the system's configuration.
func (h Host) system(path string) string { return filepath.Join(h.System, path) }

// configHome returns the directory in which the person's programs keep their configuration.
func (h Host) configHome() string {
	if dir := h.value("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(h.Home, ".config")
}
