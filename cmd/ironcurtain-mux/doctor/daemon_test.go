package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// shortHome is a state home whose sockets have short paths.
func shortHome(t *testing.T) wiring.Paths {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return wiring.Paths{Home: dir}
}

// serve is a daemon that says w of itself and runs until the end of the test.
func serve(t *testing.T, p wiring.Paths, w wire.Welcome) {
	t.Helper()
	door, err := daemon.Listen(t.Context(), p.Home)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon.Daemon{
		Version: w.Version, Program: w.Program, Build: w.Build,
		Log: slog.New(slog.DiscardHandler), StandDown: func() {},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx, door.UnixListener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = door.Unlock()
	})
}

// A daemon that runs is named with its version; one that is another program, or whose program
// file is another one by now, is worth a warning.
func TestDoctorTellsOfTheDaemon(t *testing.T) {
	version := cli.ThisBuild().Version
	path, build := cli.ThisFile()
	replaced := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(replaced, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		says         wire.Welcome
		status, text string
	}{
		"same":            {wire.Welcome{Version: version, Program: path, Build: build}, "ok", "answers, version " + version},
		"without a build": {wire.Welcome{Version: version}, "ok", "answers"},
		"another version": {wire.Welcome{Version: "v0", Program: "/old", Build: "x"}, "warn", "is version v0 (/old), this program is " + version},
		"replaced":        {wire.Welcome{Version: version, Program: replaced, Build: "x"}, "warn", replaced + " was replaced or removed"},
		"removed":         {wire.Welcome{Version: version, Program: "/nowhere", Build: build + "0"}, "warn", "/nowhere was replaced or removed"},
		"another file":    {wire.Welcome{Version: version, Program: replaced, Build: cli.BuildOf(replaced)}, "warn", "another program file, " + replaced},
	} {
		t.Run(name, func(t *testing.T) {
			p := shortHome(t)
			if f := checkDaemon(t.Context(), p); f.Status != "ok" || !strings.Contains(f.Detail, "none runs") {
				t.Errorf("without a daemon: %+v", f)
			}
			serve(t, p, c.says)
			f := checkDaemon(t.Context(), p)
			if f.Status != c.status || !strings.Contains(f.Detail, c.text) || !strings.Contains(f.Detail, fmt.Sprint("process ", os.Getpid())) {
				t.Errorf("found %+v", f)
			}
			if (f.Status == "warn") != strings.Contains(f.Remedy, "'ironcurtain-mux stop'") {
				t.Errorf("to do: %q", f.Remedy)
			}
		})
	}
}

// A daemon that says nothing is a failure, and the remedy names its process.
func TestDoctorTellsOfASilentDaemon(t *testing.T) {
	p := shortHome(t)
	if err := os.Mkdir(filepath.Dir(daemon.SocketPath(p.Home)), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := wire.ListenPrivate(daemon.SocketPath(p.Home))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
	defer cancel()
	f := checkDaemon(ctx, p)
	if f.Status != "fail" || !strings.Contains(f.Detail, "does not answer") || !strings.Contains(f.Remedy, fmt.Sprintf("'kill -9 %d'", os.Getpid())) {
		t.Errorf("found %+v", f)
	}
}

// More crashes than now and then are worth a look into the log.
func TestDoctorCountsCrashes(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	p := wiring.Paths{Home: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.Home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if f := checkCrashes(p, now); f.Status != "ok" {
		t.Errorf("found %+v", f)
	}
	text := ""
	for i, ago := range []time.Duration{48 * time.Hour, 25 * time.Hour, 23 * time.Hour, time.Hour, 0} {
		text += now.Add(-ago).Format(time.RFC3339) + "\n"
		if err := os.WriteFile(running.TakenBackFile(p.Home), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, many := checkCrashes(p, now), i == 4
		if (f.Status == "warn") != many || many && (!strings.Contains(f.Detail, " 3 times") || !strings.Contains(f.Remedy, p.LogFile())) {
			t.Errorf("after %d: %+v", i+1, f)
		}
	}
}
