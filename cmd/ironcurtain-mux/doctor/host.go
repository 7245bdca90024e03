package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// describeEngine says which engine was found, how, and which system it runs on.
func describeEngine(e docker.Endpoint, info docker.Info) string {
	rootless := ""
	if info.Rootless {
		rootless = ", rootless"
	}
	from := e.Source
	if !strings.HasPrefix(from, "context ") {
		from = "from " + from
	}
	return fmt.Sprintf("%s %s at %s (%s)%s, kernel %s, cgroup v%s",
		info.Product, info.Version, e.Address, from, rootless, info.Kernel, info.CgroupVersion)
}

func checkEngine(ctx context.Context, p wiring.Paths, e engine) finding {
	if _, err := p.Config(); err != nil {
		return warn("fix config.json first", "unknown without the configuration")
	}
	client, err := e.connect()
	if err != nil {
		return bad(cli.RemedyOf(err, "start the container engine"), "%v", err)
	}
	info, err := client.Version(ctx)
	if err != nil {
		return bad(cli.RemedyOf(err, "start the container engine"), "%v", err)
	}
	text := describeEngine(client.Endpoint(), info)
	switch {
	case client.Endpoint().Hides != "":
		return warn("unset DOCKER_HOST to use the context, or name an engine with --engine or engine.use in config.json",
			"%s; DOCKER_HOST hides %s", text, client.Endpoint().Hides)
	case info.Seccomp == "unconfined" || info.Seccomp == "":
		return warn("let the engine use its default seccomp profile", "%s; it filters no system calls", text)
	case len(info.Warnings) > 0:
		return warn("see the engine's documentation; agents run without the limits that the engine cannot enforce", "%s; %s", text, strings.Join(info.Warnings, "; "))
	}
	return ok("%s", text)
}

// checkWay shows how containers are reached. For an engine elsewhere it also shows the round trip time,
// and how fast files were copied there last.
func checkWay(ctx context.Context, p wiring.Paths, e engine) finding {
	ways, client, missing := e.ways(p)
	if missing != nil {
		return *missing
	}
	address, version := client.Endpoint().Address, client.Info().Version
	said := ways.Describe(address, version)
	if client.Endpoint().Local() {
		return ok("%s", said)
	}
	took, err := client.RoundTrip(ctx)
	if err != nil {
		return bad(cli.RemedyOf(err, "start the container engine"), "%v", err)
	}
	said += fmt.Sprintf("; %d ms", took.Round(time.Millisecond).Milliseconds())
	if last, known := ways.Seen(address, version); known && last.Rate > 0 {
		said += ", " + text.Size(last.Rate) + "/s"
	}
	return ok("%s", said)
}

// measureLimit is how long an engine may take to look through its volumes.
const measureLimit = 10 * time.Second

// checkFiles shows how containers get the files of this machine. Where files are copied, it also shows
// the size of the volumes, if the engine knows it.
func checkFiles(ctx context.Context, p wiring.Paths, e engine) finding {
	ways, client, missing := e.ways(p)
	if missing != nil {
		return *missing
	}
	address, version := client.Endpoint().Address, client.Info().Version
	said := ways.DescribeFiles(address, version)
	if files, _ := ways.FilesOf(address, version); files == reach.Copied {
		limited, cancel := context.WithTimeout(ctx, measureLimit)
		defer cancel()
		if size, known, err := stored.VolumesSize(limited, p.Home, client); err == nil && known {
			said += "; volumes " + text.Size(size)
		}
	}
	return ok("%s", said)
}

func checkImages(ctx context.Context, p wiring.Paths, e engine) finding {
	client, err := e.connect()
	if err != nil {
		return warn("see the line 'engine' first", "unknown without the engine")
	}
	c, err := p.Config()
	if err != nil {
		return warn("fix config.json first", "unknown without the configuration")
	}
	var missing, without []string
	for _, a := range p.Agents().All() {
		switch {
		case a.Place != agent.InContainer || a.Foreign:
			continue // it does not run in one of our images
		case cannotBuild(a.Image):
			without = append(without, a.Image)
			continue
		}
		_, present, err := client.ImageTag(ctx, a.Image, wiring.RecipeOf(c.Images))
		if err != nil {
			return warn(cli.RemedyOf(err, ""), "%v", err)
		}
		if !present {
			missing = append(missing, a.Image)
		}
	}
	if len(missing) > 0 {
		return warn("run 'ironcurtain-mux images build', or open a tab: they are built on first use",
			"not built yet: %s", strings.Join(missing, ", "))
	}
	if len(without) > 0 {
		return ok("built for every agent whose program is installed on this machine; not for %s", strings.Join(without, ", "))
	}
	return ok("built for every agent")
}

// cannotBuild reports whether this machine lacks programs that an image is made of.
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

// packagesOf returns the Debian packages that contain the programs.
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

// checkSockets checks that the paths of a session's sockets fit into a socket address.
func checkSockets(p wiring.Paths) finding {
	longest := filepath.Join(p.Home, "run", "0123456789ab", "sockets", "mitm-proxy.sock")
	if len(longest) > docker.MaxSocketPath {
		return bad("set IRONCURTAIN_HOME to a shorter path", "socket paths would be %d bytes long, %d are allowed", len(longest), docker.MaxSocketPath)
	}
	return ok("paths of %d bytes, %d are allowed", len(longest), docker.MaxSocketPath)
}

// checkTerminal checks TERM and its relatives. Inside tmux, a copy reaches the clipboard
// only if tmux is set to pass it on.
func checkTerminal(ctx context.Context) finding {
	name := os.Getenv("TERM")
	if name == "" || name == "dumb" {
		return warn("use a terminal, and set TERM to its type", "TERM is %q", name)
	}
	colors := "256 colors at most"
	if c := os.Getenv("COLORTERM"); c == "truecolor" || c == "24bit" {
		colors = "true color"
	}
	if os.Getenv("TMUX") != "" {
		set, err := exec.CommandContext(ctx, "tmux", "show-options", "-sv", "set-clipboard").Output()
		if value := strings.TrimSpace(string(set)); err == nil && value != "on" {
			return warn("run: tmux set -s set-clipboard on", "%s inside tmux, which keeps copied text from the clipboard (set-clipboard is %s)", name, value)
		}
	}
	return ok("%s, %s", name, colors)
}

// leastSpace is how many bytes should be free on the disk.
const leastSpace = 2 << 30

func checkDisk(p wiring.Paths) finding {
	dir := p.Home
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
		return warn("make room: when the disk is full, the audit cannot be written and everything is refused", "%s", text)
	}
	return ok("%s", text)
}

// checkClock checks that a time service keeps the clock right, because certificates and the
// expiry of approvals depend on the clock.
func checkClock(now time.Time) finding {
	text := now.Format(time.RFC3339)
	if info, known := debug.ReadBuildInfo(); known {
		for _, s := range info.Settings {
			if built, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && now.Before(built.Add(-24*time.Hour)) {
				return bad("set the clock", "%s, but this program was made on %s", text, built.Format(time.DateOnly))
			}
		}
	}
	if !clockKept() {
		return ok("%s, not kept by a time service", text)
	}
	return ok("%s", text)
}
