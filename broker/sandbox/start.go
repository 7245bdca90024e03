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
)

// probeLimit is how long a sandbox may take until its probes have run.
const probeLimit = 30 * time.Second

// Spec is a server to be started.
type Spec struct {
	Name    string
	Argv    []string          // the program and its arguments
	Env     map[string]string // its own variables and credentials
	Sandbox servers.Sandbox
	// Roots are the directories that the server is told are open, by MCP roots,
	// when it asks; the first is the session's. None: it is told nothing.
	Roots []string
}

// Probe is one attempt to break out, made from inside before the server began.
type Probe struct {
	Name    string `json:"name"` // "write outside", "dial the host"
	Blocked bool   `json:"blocked"`
}

// Start runs a server. The process is sandboxed unless its configuration opts
// out or, under Warn, the machine cannot. A sandbox that lets a probe through
// is an error under Enforce.
func (h *Host) Start(ctx context.Context, s Spec) (*Process, error) {
	if len(s.Argv) == 0 {
		return nil, fmt.Errorf("start server %s: no command", s.Name)
	}
	private := filepath.Join(h.scratch, s.Name)
	if err := os.MkdirAll(private, 0o700); err != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, err)
	}
	if s.Sandbox.Off || h.unavailable != nil {
		return launch(s.Name, s.Argv, h.environment(s.Env), private)
	}
	p, err := h.startConfined(ctx, s, private)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", s.Name, err)
	}
	return p, nil
}

// startConfined starts a server under srt and waits for its probes.
func (h *Host) startConfined(ctx context.Context, s Spec, private string) (*Process, error) {
	settings, err := h.writeSettings(s.Name, h.settingsFor(s.Sandbox, private))
	if err != nil {
		return nil, err
	}
	bait, err := h.layBait(s.Name)
	if err != nil {
		return nil, err
	}
	defer bait.remove()
	script := bait.script() + "exec env " + quote(append([]string{"TMPDIR=" + private}, s.Argv...))
	argv := append(slices.Clone(h.options.Runtime), "-s", settings, "-c", script)
	p, err := launch(s.Name, argv, h.environment(s.Env), private)
	if err != nil {
		return nil, err
	}
	p.sandboxed = true
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	line, err := p.firstLine(ctx)
	if err == nil {
		p.probes, err = bait.read(line)
	}
	if err != nil {
		p.Stop()
		return nil, &Error{fmt.Errorf("%w%s", err, p.lastWords()), "run 'ironcurtain-mux doctor'"}
	}
	for _, probe := range p.probes {
		if !probe.Blocked && h.options.Policy == Enforce {
			p.Stop()
			return nil, &Error{fmt.Errorf("the sandbox does not hold: probe %q got through", probe.Name), "update bubblewrap; see 'ironcurtain-mux doctor'"}
		}
	}
	return p, nil
}

// environment is all a server gets to see of the host's environment.
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

// bait is what the probes reach for: a file beside the sandbox and a listener
// on the host's loopback. The host sees for itself whether they were reached.
type bait struct {
	canary string
	listen *net.TCPListener
}

func (h *Host) layBait(name string) (*bait, error) {
	listen, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("prepare probes: %w", err)
	}
	return &bait{canary: filepath.Join(h.scratch, name+".canary"), listen: listen}, nil
}

func (b *bait) remove() {
	_ = b.listen.Close()
	_ = os.Remove(b.canary)
}

// probeWord begins the one line that the probes print before the server runs.
const probeWord = "ironcurtain-probe"

// script is the shell code that tries both and reports.
func (b *bait) script() string {
	port := strconv.Itoa(b.listen.Addr().(*net.TCPAddr).Port)
	return `w=blocked; (: > ` + quote([]string{b.canary}) + `) 2>/dev/null && w=open; ` +
		`d=blocked; (exec 3<>/dev/tcp/127.0.0.1/` + port + `) 2>/dev/null && d=open; ` +
		`printf '` + probeWord + ` %s %s\n' $w $d; unset w d; `
}

// read takes the report and checks it against what the host sees.
func (b *bait) read(line string) ([]Probe, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[0] != probeWord {
		return nil, errors.New("the sandbox did not report its probes")
	}
	_, err := os.Lstat(b.canary)
	wrote := err == nil
	_ = b.listen.SetDeadline(time.Now().Add(time.Millisecond))
	conn, err := b.listen.Accept()
	dialed := err == nil
	if dialed {
		_ = conn.Close()
	}
	return []Probe{
		{Name: "write outside", Blocked: fields[1] == "blocked" && !wrote},
		{Name: "dial the host", Blocked: fields[2] == "blocked" && !dialed},
	}, nil
}

// quote writes words for a POSIX shell.
func quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
