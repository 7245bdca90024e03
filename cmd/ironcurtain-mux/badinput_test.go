package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// complaintLine is how every complaint looks: operation, cause, next thing to do.
var complaintLine = regexp.MustCompile(`^ironcurtain-mux: [^:\n]+: [^\n]+ \([^\n]+\)$`)

// refused checks that the program said why it would not open, in one line, and
// left the terminal and the machine as they were.
func (d *driver) refused(wants ...string) {
	d.t.Helper()
	d.complains(wants...)
	d.traceless()
}

// complains is refused without a look at the machine.
func (d *driver) complains(wants ...string) {
	d.t.Helper()
	code, complaint := d.ended(2 * time.Minute)
	if code != cli.ExitFailure || !complaintLine.MatchString(complaint) {
		d.t.Errorf("exits %d and says %q", code, complaint)
	}
	for _, want := range wants {
		if !strings.Contains(complaint, want) {
			d.t.Errorf("%q does not say %q", complaint, want)
		}
	}
}

// listen serves a Unix socket until the test ends.
func listen(t *testing.T, path string, handle http.Handler) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handle, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
}

// An engine that is not there, or not of use.
func TestEngineOfNoUse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, socket string)
		wants   []string
		inTab   bool // it is found out when the screen is there
	}{
		"absent": {
			func(*testing.T, string) {},
			[]string{"connect to Docker", "the socket does not exist", "start the engine"},
			false,
		},
		"nobody listens": {
			func(t *testing.T, socket string) {
				t.Helper()
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
				if err != nil {
					t.Fatal(err)
				}
				l.SetUnlinkOnClose(false)
				_ = l.Close()
			},
			[]string{"not running", "nobody listens", "start the engine"},
			false,
		},
		"an error": {
			func(t *testing.T, socket string) {
				t.Helper()
				listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					http.Error(w, `{"message":"the disk has a hole"}`, http.StatusInternalServerError)
				}))
			},
			[]string{"refuses to answer", "500"},
			true,
		},
		"garbage": {
			func(t *testing.T, socket string) {
				t.Helper()
				listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					conn, _, err := w.(http.Hijacker).Hijack()
					if err == nil {
						_, _ = io.WriteString(conn, "\x1b[2J\x00 no HTTP\r\nat all\r\n\r\n")
						_ = conn.Close()
					}
				}))
			},
			[]string{"refuses to answer"},
			true,
		},
		"JSON of another kind": {
			func(t *testing.T, socket string) {
				t.Helper()
				listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, `["OK"]`)
				}))
			},
			[]string{"refuses to answer"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			socket := filepath.Join(home, "engine.sock")
			tt.prepare(t, socket)
			d := driveFramed(t, home, 160, 24, "env", "DOCKER_HOST=unix://"+socket, "ironcurtain-mux", "demo", "--agent", "shell")
			if !tt.inTab {
				d.refused(tt.wants...)
				return
			}
			d.see(patience, append(tt.wants, "/restart")...)
			d.send("\x01/quit\r")
			if code, _ := d.ended(patience); code != cli.ExitOK {
				t.Errorf("exits %d", code)
			}
			d.traceless()
		})
	}
}

// An engine that takes the connection and says nothing does not keep a person
// from going elsewhere.
func TestEngineHangs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	socket := filepath.Join(home, "engine.sock")
	asked := make(chan struct{}, 16) // lossy: one is enough
	listen(t, socket, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	d := driveFramed(t, home, 80, 24, "env", "DOCKER_HOST=unix://"+socket, "ironcurtain-mux", "demo", "--agent", "shell")
	within(t, 60*time.Second, "the question to the engine", asked)
	d.see(patience, "starting shell")
	d.kill(syscall.SIGINT)
	if code, complaint := d.ended(8 * time.Second); code != cli.ExitOK { // less than the engine is given
		t.Errorf("exits %d and says %q", code, complaint)
	}
	d.stop()
	d.traceless()
}

// The engine's socket is there, but somebody else's.
func TestEngineForbidden(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	socket := filepath.Join(home, "engine.sock")
	listen(t, socket, http.NotFoundHandler())
	if err := os.Chmod(socket, 0); err != nil {
		t.Fatal(err)
	}
	argv := []string{"env", "DOCKER_HOST=unix://" + socket, "ironcurtain-mux", "demo", "--agent", "shell"}
	if os.Geteuid() == 0 {
		// Root may do everything; somebody who may not needs a way to the program.
		const nobody = 65534
		argv = append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, argv...)
		argv[6] = copyProgram(t, home)
		for _, dir := range []string{home, filepath.Join(home, "user"), filepath.Join(home, "state")} {
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chown(dir, nobody, nobody)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"registries.json", "config.json"} {
			if err := os.Chown(filepath.Join(home, "state", name), nobody, nobody); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	d := driveFramed(t, home, 80, 24, argv...)
	d.complains("no permission to talk to the Docker engine", "group")
	// The daemon waits for somebody, and serves only its own user.
	_ = exec.Command("pkill", "-f", home+"/ironcurtain-mux serve").Run() // fails if there is none
	if !eventually(time.Minute, func() bool { return len(processesOf(home)) == 0 }) {
		t.Errorf("processes are left: %q", processesOf(home))
	}
	d.traceless()
}

// copyProgram puts the program where every user can run it.
func copyProgram(t *testing.T, dir string) string {
	t.Helper()
	path, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "ironcurtain-mux")
	copyExecutable(t, path, target)
	return target
}

// What cannot show a screen is told so.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		argv  []string
		wants []string
	}{
		"TERM unset": {[]string{"env", "-u", "TERM", "ironcurtain-mux", "demo"}, []string{"TERM is not set", "set TERM"}},
		"TERM dumb":  {[]string{"env", "TERM=dumb", "ironcurtain-mux", "demo"}, []string{"TERM is dumb", "set TERM"}},
		"no input":   {[]string{"sh", "-c", "ironcurtain-mux demo </dev/null"}, []string{"standard input is not a terminal", "without redirecting"}},
		"no output":  {[]string{"sh", "-c", "ironcurtain-mux demo >out"}, []string{"standard output is not a terminal", "without redirecting"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driveFramed(t, newHome(t), 80, 24, tt.argv...).refused(tt.wants...)
		})
	}
}

// A screen that is too small says so and comes back once it is large enough.
func TestTooSmall(t *testing.T) {
	t.Parallel()
	d := driveFramed(t, newHome(t), 19, 4, "ironcurtain-mux", "demo", "--agent", "shell")
	resize := func(cols, rows int) {
		d.screen.Resize(cols, rows)
		if err := d.pty.Resize(cols, rows); err != nil {
			t.Fatal(err)
		}
	}
	d.see(patience, "too small")
	resize(80, 24)
	d.see(patience, "/workspace$")
	for _, size := range [][2]int{{10, 3}, {1, 1}, {19, 24}, {80, 4}} {
		resize(size[0], size[1])
		if size[0] > 9 {
			d.see(patience, "too small")
		}
	}
	resize(80, 24)
	d.see(patience, "/workspace$")
	d.send("echo back $((6*7))\r")
	d.see(patience, "back 42")
	d.send("\x01/quit!\r")
	if code, complaint := d.ended(2 * time.Minute); code != cli.ExitOK || !strings.HasPrefix(complaint, "ended; ") {
		t.Errorf("exits %d and says %q", code, complaint)
	}
	d.traceless()
}

// What a tab needs may be missing. The tab says what and how to go on; the
// multiplexer stays of use.
func TestTabCannotStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		programs []string          // all there are
		scripts  map[string]string // programs that are made up
		cache    string
		wants    []string
	}{
		"no node":              {programs: []string{"git"}, wants: []string{"node was not found", "install Node.js", "apt-get install nodejs"}},
		"no npm":               {programs: []string{"git", "node"}, wants: []string{"npm was not found", "install npm"}},
		"npm fails":            {programs: []string{"git", "node"}, scripts: map[string]string{"npm": "echo the registry is away >&2; exit 1"}, wants: []string{"npm ci", "the registry is away", "try again"}},
		"node too old":         {programs: []string{"git"}, scripts: map[string]string{"node": "echo v12.0.0"}, wants: []string{`has version "12.0.0"`, "install Node.js"}},
		"no sandbox":           {programs: []string{"git", "node"}, cache: cacheDirectory(t), wants: []string{"missing: bubblewrap, socat", "apt-get install -y bubblewrap socat"}},
		"the cache unwritable": {programs: []string{"git", "node", "npm"}, cache: "/proc/ironcurtain", wants: []string{"/proc/ironcurtain", "make the cache directory writable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			if tt.cache == "" {
				tt.cache = filepath.Join(home, "cache")
			}
			bin := filepath.Join(home, "bin")
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.programs {
				path, err := exec.LookPath(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tt.scripts {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			program, err := exec.LookPath("ironcurtain-mux")
			if err != nil {
				t.Fatal(err)
			}
			d := driveFramed(t, home, 120, 24, "env", "PATH="+bin, "IRONCURTAIN_CACHE="+tt.cache, program, "demo", "--agent", "shell")
			d.dead(tt.wants...)
			d.send("\x01/quit\r")
			if code, complaint := d.ended(2 * time.Minute); code != cli.ExitOK || !strings.HasPrefix(complaint, "ended; ") {
				t.Errorf("exits %d and says %q", code, complaint)
			}
			d.traceless()
		})
	}
}

// dead waits for a tab whose start has failed, with the reason and what to do.
func (d *driver) dead(wants ...string) {
	d.t.Helper()
	d.until("the reason", patience, func(screen string) bool {
		flat := oneLine(screen)
		for _, want := range append(wants, "/restart", "/close") {
			if !strings.Contains(flat, want) {
				return false
			}
		}
		return true
	})
}

// An image that cannot be built leaves a tab that says why; once it can be
// had, the same tab starts.
func TestImageCannotBeBuilt(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	var fixed atomic.Bool
	socket := filepath.Join(home, "engine.sock")
	listen(t, socket, engineWithoutImages(t, &fixed))
	// What the tool servers need is there; what images are made in is not.
	cache := filepath.Join(home, "cache")
	if err := errors.Join(os.Mkdir(cache, 0o700), os.WriteFile(filepath.Join(cache, "locks"), nil, 0o600),
		os.Symlink(filepath.Join(cacheDirectory(t), "servers"), filepath.Join(cache, "servers"))); err != nil {
		t.Fatal(err)
	}
	d := driveFramed(t, home, 120, 24, "env", "DOCKER_HOST=unix://"+socket, "IRONCURTAIN_CACHE="+cache,
		"ironcurtain-mux", "demo", "--agent", "shell")
	d.dead("prepare image shell", cache, "set IRONCURTAIN_CACHE to a directory you can write to")
	fixed.Store(true)
	d.send("\x01/restart\r")
	d.see(patience, "/workspace$")
	d.send("\x01/quit!\r")
	if code, complaint := d.ended(2 * time.Minute); code != cli.ExitOK || !strings.HasPrefix(complaint, "ended; ") {
		t.Errorf("exits %d and says %q", code, complaint)
	}
	d.traceless()
}

// engineWithoutImages is the machine's engine, which until it is fixed has no
// image.
func engineWithoutImages(t *testing.T, fixed *atomic.Bool) http.Handler {
	t.Helper()
	engine := machineEngine(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/images/") && !fixed.Load() {
			http.Error(w, `{"message":"No such image"}`, http.StatusNotFound)
			return
		}
		engine.ServeHTTP(w, r)
	})
}

// machineEngine passes requests on to the machine's engine.
func machineEngine(t *testing.T) http.Handler {
	t.Helper()
	endpoint, err := docker.Choice{}.Resolve(os.Getenv, "/")
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", endpoint.SocketPath())
		}},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
}
