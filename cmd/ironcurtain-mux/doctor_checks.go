package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// leastSpace is how much room on the disk a multiplexer should have, in bytes.
const leastSpace = 2 << 30

// doctorChecks lists the prerequisites in the order in which they matter.
func doctorChecks(p place) []check {
	return []check{
		{"engine", func(ctx context.Context) finding { return checkEngine(ctx, p) }},
		{"images", func(ctx context.Context) finding { return checkImages(ctx, p) }},
		{"sandbox", func(context.Context) finding {
			return checkPrograms("tool servers run in a sandbox", "bwrap", "socat", "rg")
		}},
		{"node", func(context.Context) finding { return checkPrograms("tool servers can be installed", "node", "npm") }},
		{"servers", func(ctx context.Context) finding { return checkServers(ctx, p) }},
		{"policy", func(context.Context) finding { return checkPolicy(p) }},
		{"config", func(context.Context) finding { return checkConfig(p) }},
		{"sockets", func(context.Context) finding { return checkSockets(p) }},
		{"terminal", func(context.Context) finding { return checkTerminal() }},
		{"keys", func(context.Context) finding { return checkKeys(p, p.agents()) }},
		{"disk", func(context.Context) finding { return checkDisk(p) }},
		{"clock", func(context.Context) finding { return checkClock(time.Now()) }},
	}
}

// remedyOf is the next thing to do about an error, when it knows.
func remedyOf(err error, otherwise string) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	return otherwise
}

// reasonOf is an error without the next thing to do, which stands on a line of its
// own.
func reasonOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.op + ": " + f.err.Error()
	}
	return err.Error()
}

func connect(ctx context.Context, p place) (*docker.Client, error) {
	endpoint, err := docker.ResolveEndpoint(os.Getenv, p.userHome)
	if err != nil {
		return nil, err
	}
	client, err := docker.Connect(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	if c, err := p.config(); err == nil {
		client.UseBase(c.Images.Base)
	}
	return client, nil
}

func checkEngine(ctx context.Context, p place) finding {
	client, err := connect(ctx, p)
	if err != nil {
		return bad(remedyOf(err, "start the container engine"), "%v", err)
	}
	defer client.Close(ctx)
	info, err := client.Version(ctx)
	if err != nil {
		return bad(remedyOf(err, "start the container engine"), "%v", err)
	}
	text := describeEngine(client.Endpoint(), info)
	switch {
	case info.Seccomp == "unconfined" || info.Seccomp == "":
		return warn("let the engine use its default seccomp profile", "%s; it filters no system calls", text)
	case len(info.Warnings) > 0:
		return warn("see the engine's documentation; limits it cannot enforce do not hold for agents", "%s; %s", text, strings.Join(info.Warnings, "; "))
	}
	return ok("%s", text)
}

func checkImages(ctx context.Context, p place) finding {
	client, err := connect(ctx, p)
	if err != nil {
		return warn("start the container engine first", "cannot be told without the engine")
	}
	defer client.Close(ctx)
	var missing []string
	for _, a := range p.agents().All() {
		if a.Host || a.Foreign || cannotBuild(a.Image) {
			continue // it runs in no image of ours, or cannot run here at all
		}
		_, present, err := client.ImageTag(ctx, a.Image)
		if err != nil {
			return warn(remedyOf(err, ""), "%v", err)
		}
		if !present {
			missing = append(missing, a.Image)
		}
	}
	if len(missing) > 0 {
		return warn("run 'ironcurtain-mux images build', or open a tab: they are built on first use",
			"not built yet: %s", strings.Join(missing, ", "))
	}
	return ok("built for every agent")
}

// cannotBuild says whether an image is made of programs that this machine lacks.
func cannotBuild(name string) bool {
	for _, i := range docker.Images() {
		if i.Name == name {
			return len(i.Lacks()) > 0
		}
	}
	return false
}

func checkPrograms(good string, names ...string) finding {
	var missing []string
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return bad("install them, on Debian with 'sudo apt-get install -y "+strings.Join(packagesOf(missing), " ")+"'",
			"not installed: %s", strings.Join(missing, ", "))
	}
	return ok("%s (%s)", good, strings.Join(names, ", "))
}

// packagesOf names the Debian packages that bring programs.
func packagesOf(programs []string) []string {
	var all []string
	for _, program := range programs {
		if name := map[string]string{"bwrap": "bubblewrap", "rg": "ripgrep", "node": "nodejs"}[program]; name != "" {
			program = name
		}
		all = append(all, program)
	}
	return all
}

func checkPolicy(p place) finding {
	c, err := p.config()
	if err != nil {
		return warn("mend config.json first", "cannot be told without the configuration")
	}
	loaded, err := judgeBy(c.Policy)
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	return ok("%s", loaded.source)
}

func checkConfig(p place) finding {
	if _, err := p.config(); err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	if _, err := os.Stat(p.configFile()); errors.Is(err, fs.ErrNotExist) {
		return ok("there is no %s; the defaults hold", p.configFile())
	}
	return ok("%s", p.configFile())
}

// checkSockets makes sure that a session's sockets will fit into an address.
func checkSockets(p place) finding {
	longest := filepath.Join(p.home, "run", "0123456789ab", "sockets", "mitm-proxy.sock")
	if len(longest) > 103 {
		return bad("set IRONCURTAIN_HOME to a shorter path", "socket paths would be %d bytes long, 103 are allowed", len(longest))
	}
	return ok("paths of %d bytes, 103 are allowed", len(longest))
}

func checkTerminal() finding {
	switch name := os.Getenv("TERM"); name {
	case "", "dumb":
		return warn("use a terminal, and set TERM to what it is", "TERM is %q", name)
	default:
		colors := "256 colors at most"
		if c := os.Getenv("COLORTERM"); c == "truecolor" || c == "24bit" {
			colors = "true color"
		}
		return ok("%s, %s", name, colors)
	}
}

// checkKeys tells which agents have a provider that lets them in.
func checkKeys(p place, agents *agent.Registry) finding {
	table := mitm.Providers()
	if c, err := p.config(); err == nil { // what is wrong with it is said elsewhere
		if all, err := providersOf(c); err == nil {
			table = all
		}
	}
	keys := credentials(table, agents, p.userHome, upstreams{})
	var can, cannot []string
	var lacks error
	for _, a := range agents.All() {
		if len(a.Providers) == 0 {
			continue
		}
		if lack := lacking(keys, a); lack != nil {
			cannot, lacks = append(cannot, a.Name), errors.Join(lacks, lack)
			continue
		}
		can = append(can, a.Name)
	}
	if len(can) == 0 {
		return warn(remedyOf(lacks, "log in")+", or use 'ironcurtain-mux demo', which needs none",
			"no agent has a key: %s", strings.Join(cannot, ", "))
	}
	if len(cannot) > 0 {
		return ok("for %s; none for %s", strings.Join(can, ", "), strings.Join(cannot, ", "))
	}
	return ok("for %s", strings.Join(can, ", "))
}

func checkDisk(p place) finding {
	dir := p.home
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return warn("", "%s: %v", dir, err)
	}
	free := s.Bavail * uint64(s.Bsize) // a block size is positive
	text := fmt.Sprintf("%.1f GiB free at %s", float64(free)/(1<<30), dir)
	if free < leastSpace {
		return warn("make room: the audit refuses everything when the disk is full", "%s", text)
	}
	return ok("%s", text)
}
