package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// probeLimit is how long a sandbox may take until its probes have run. They take about a second on
// an idle machine, and far longer on a busy one.
const probeLimit = 90 * time.Second

// Spec describes a server to start.
type Spec struct {
	Name string
	Argv []string          // the program and its arguments
	Env  map[string]string // its own variables and credentials
	// Version identifies the version of the program that Argv starts. It is "" if that is unknown.
	Version string
	// Remote is set for a server that is reached over HTTP, which has no program and no sandbox.
	Remote *servers.Remote
	// Credentials returns more variables, at each start. Their values are secrets. It may be nil.
	Credentials func(context.Context) (map[string]string, error)
	Sandbox     servers.Sandbox
	// Roots are the directories that the server gets as MCP roots when it asks. The first one is the
	// session's. If Roots is empty, the server has no roots. RootArgs means that the roots are also
	// appended to the arguments.
	Roots    []string
	RootArgs bool
	// View is what the server sees of the file system; if it is nil, Sandbox decides.
	View *View
	// Outlet leads to the only host that the server can reach; if it is nil, Sandbox decides.
	Outlet *Outlet
	// Staging says how separate processes of the server carry out single calls that the running one
	// cannot. If it is nil, such calls cannot be carried out.
	Staging *Staging
	// Own means that the server is one of the person's own, not one that the program installs.
	Own bool
	// Memory limits the private memory of each process of the server, in bytes, on systems that can
	// do so. 0 means no limit.
	Memory int64
	// Programs limits the memory of programs that the server starts, by their names. The limits
	// replace Memory and must be lower.
	Programs map[string]int64
}

// Outlet is a socket of the host that gets a server's connections to one host.
type Outlet struct {
	Socket  string   // the path of the socket
	Host    string   // the name of the host
	Allowed string   // "host:port", the only address that the server can reach
	Script  string   // shell code that runs in the sandbox before the server
	Seen    []string // files that the server needs for these connections
}

// Staging says how a process of a server carries out a single call on a stage.
type Staging struct {
	Open  []string // the directories that the running server can use
	Whole bool     // directories in Open that contain a path of the call are bound to the stage, not copied
	Base  string   // the environment variable that names the directory which the server does not leave
	Seen  []string // files and directories that the server reads in every call, if they exist
}

// Probe is an attempt to break out of a sandbox, which is made inside it before the server starts.
type Probe struct {
	Name    string `json:"name"` // "write outside", "dial the host", "dial past the list"
	Blocked bool   `json:"blocked"`
}

// Start starts a server. It runs in a sandbox unless its configuration opts out, or the policy is
// Warn and the machine has no sandboxes. Under Enforce, Start fails if a probe gets through.
func (h *Host) Start(ctx context.Context, s Spec) (*Process, error) {
	if len(s.Argv) == 0 {
		return nil, fmt.Errorf("start server %s: no command", s.Name)
	}
	private := filepath.Join(h.scratch, s.Name)
	if err := os.MkdirAll(private, 0o700); err != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, err)
	}
	env, err := h.boundedPrograms(s)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, err)
	}
	if s.View != nil && h.Views() != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, h.Views())
	}
	if s.RootArgs {
		s.Argv = slices.Concat(s.Argv, s.Roots)
	}
	if s.View == nil && (s.Sandbox.Off || h.unavailable != nil) {
		return launch(s.Name, withMemory(s.Memory, s.Argv), env, private, "")
	}
	p, err := h.startConfined(ctx, s, env, private)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, err)
	}
	return p, nil
}

// startTries is how often a sandbox is started in all if it ends before the server has started. This
// happens on a busy machine, and when a mount disappears while bubblewrap lists the mounts, for
// example because a container ends.
const startTries = 3

// startConfined starts a server under srt, with retries.
func (h *Host) startConfined(ctx context.Context, s Spec, env []string, private string) (p *Process, err error) {
	for range startTries {
		if p, err = h.tryConfined(ctx, s, env, private); !errors.Is(err, errNotStarted) || ctx.Err() != nil {
			break
		}
	}
	return p, err
}

// tryConfined starts a server under srt and waits for its probes.
func (h *Host) tryConfined(ctx context.Context, s Spec, env []string, private string) (*Process, error) {
	limits := h.settingsFor(s.Sandbox, private)
	if s.View != nil {
		limits.Filesystem = h.viewSettings(s.View, private)
	}
	prepare := ""
	if s.Outlet != nil {
		limits.Network = networkSettings{
			AllowedDomains: []string{s.Outlet.Allowed}, DeniedDomains: []string{},
			Proxy: &proxySettings{Socket: s.Outlet.Socket, Domains: []string{s.Outlet.Host}},
		}
		prepare = s.Outlet.Script
	}
	settings, err := h.writeSettings(s.Name, limits)
	if err != nil {
		return nil, err
	}
	bait, err := h.layBait(s.Name, hasList(s.Sandbox.Network))
	if err != nil {
		return nil, err
	}
	defer bait.remove()
	script := bait.script() + s.View.identify() + "echo\n" + prepare + "exec env " + quote(append([]string{"TMPDIR=" + private}, s.Argv...))
	argv := append(slices.Clone(h.options.Runtime), "-s", settings, "-c", script)
	temp := ""
	if s.View != nil { // srt has the view's /tmp
		argv, err = h.wrap(s.View, s.Outlet, private, argv)
	} else if temp, err = os.MkdirTemp(h.scratch, "t"); err == nil {
		env = append(slices.Clone(env), "TMPDIR="+temp)
	}
	if err != nil {
		return nil, err
	}
	p, err := launch(s.Name, withMemory(s.Memory, argv), env, private, temp)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	p.sandboxed = true
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	line, err := p.firstLine(ctx)
	if err == nil {
		var seen []string
		if p.probes, seen, err = bait.read(line); err == nil {
			err = s.View.check(seen)
		}
	}
	if err != nil {
		p.Stop()
		return nil, &fault.Error{Op: "sandbox", Err: fmt.Errorf("%w%s", err, p.cause()), Next: "run 'ironcurtain-mux doctor'"}
	}
	for _, probe := range p.probes {
		if !probe.Blocked && h.options.Policy == Enforce {
			p.Stop()
			return nil, &fault.Error{Op: "sandbox", Err: fmt.Errorf("the sandbox failed its test: probe %q got through", probe.Name), Next: "update bubblewrap; see 'ironcurtain-mux doctor'"}
		}
	}
	return p, nil
}

// hasList reports whether the sandbox lets a server reach listed hosts, which do not include the
// bait's.
func hasList(n servers.Network) bool {
	return !n.Judged && len(n.AllowedDomains) > 0 && !slices.Contains(n.AllowedDomains, baitHost)
}

// environment returns the whole environment of a server.
func (h *Host) environment(own map[string]string) []string {
	env := map[string]string{"HOME": h.options.UserHome, "PATH": os.Getenv("PATH")}
	for _, name := range []string{"LANG", "LC_ALL", "LC_CTYPE", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	for name, v := range own {
		env[name] = v
	}
	list := make([]string, 0, len(env))
	for name, v := range env {
		list = append(list, name+"="+v)
	}
	slices.Sort(list)
	return list
}

// baitHost is the address of the bait's listener.
const baitHost = "127.0.0.1"

// bait is what the probes try to reach: a file outside the sandbox and a listener on the host's
// loopback interface. The host sees whether they were reached. If there is a list of hosts, a probe
// also tries to reach the listener, which is not listed, through the proxy that enforces the list.
type bait struct {
	canary string
	listen *net.TCPListener
	listed bool // the server has a list of hosts
}

func (h *Host) layBait(name string, listed bool) (*bait, error) {
	listen, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("prepare probes: %w", err)
	}
	return &bait{canary: filepath.Join(h.scratch, name+".canary"), listen: listen, listed: listed}, nil
}

func (b *bait) remove() {
	_ = b.listen.Close()
	_ = os.Remove(b.canary)
}

// probeWord begins the one line that the probes print before the server runs.
const probeWord = "ironcurtain-probe"

// script returns shell code that runs the probes and prints the report.
func (b *bait) script() string {
	port := strconv.Itoa(b.listen.Addr().(*net.TCPAddr).Port)
	script := `w=blocked; (: > ` + quote([]string{b.canary}) + `) 2>/dev/null && w=open; ` +
		`d=blocked; (exec 3<>/dev/tcp/127.0.0.1/` + port + `) 2>/dev/null && d=open; l=blocked; `
	if b.listed {
		script += `(` + strings.ReplaceAll(throughProxy, "PORT", port) + `) 2>/dev/null && l=open; `
	}
	return script + `printf '` + probeWord + ` %s %s %s' $w $d $l; unset w d l; `
}

// throughProxy asks the proxy that the environment names for a connection to the bait. The name and
// the password in the proxy's address are percent-encoded.
const throughProxy = `p=${HTTP_PROXY#http://}; p=${p%/}; at=${p##*@}; who=; [ "$at" = "$p" ] || who=${p%@*}; ` +
	`exec 3<>"/dev/tcp/${at%:*}/${at##*:}" || exit 1; ` +
	`{ printf 'CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n'; ` +
	`[ -z "$who" ] || printf 'Proxy-Authorization: Basic %s\r\n' "$(printf '%b' "${who//%/\\x}" | base64 | tr -d '\n')"; ` +
	`printf '\r\n'; } >&3; IFS= read -r -t 3 answer <&3; case "$answer" in *' 200 '*) exit 0;; esac; exit 1`

// read parses the report and compares it with what the host has seen. It also returns the rest of
// the report.
func (b *bait) read(line string) (probes []Probe, rest []string, err error) {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[0] != probeWord {
		return nil, nil, errors.New("the sandbox did not report its probes")
	}
	_, err = os.Lstat(b.canary)
	wrote := err == nil
	_ = b.listen.SetDeadline(time.Now().Add(time.Millisecond))
	conn, err := b.listen.Accept()
	dialed := err == nil
	if dialed {
		_ = conn.Close()
	}
	probes = []Probe{
		{Name: "write outside", Blocked: fields[1] == "blocked" && !wrote},
		{Name: "dial the host", Blocked: fields[2] == "blocked" && !dialed},
	}
	if b.listed {
		probes = append(probes, Probe{Name: "dial past the list", Blocked: fields[3] == "blocked" && !dialed})
	}
	return probes, fields[4:], nil
}

// quote quotes words for a POSIX shell.
func quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
