package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// A program that is missing is named with the package that brings it.
func TestMissingProgramsNameTheirPackages(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	found := checkPrograms("tool servers run in a sandbox", "bwrap", "socat", "rg")
	if found.Status != "fail" || found.Detail != "not installed: bwrap, socat, rg" || !strings.Contains(found.Remedy, "apt-get install -y bubblewrap socat ripgrep'") {
		t.Errorf("found %+v", found)
	}
}

// Inside tmux, copying depends on a setting of its own.
func TestClipboardInsideTmux(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "tmux")
	tmux := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
	}
	t.Setenv("TERM", "tmux-256color")
	t.Setenv("TMUX", socket+",1,0")
	tmux("new-session", "-d", "sleep 600")
	defer tmux("kill-server")
	for value, want := range map[string]string{"off": "warn", "external": "warn", "on": "ok"} {
		tmux("set-option", "-s", "set-clipboard", value)
		if f := checkTerminal(t.Context()); f.Status != want || (want == "warn") != strings.Contains(f.Remedy, "set-clipboard on") {
			t.Errorf("%s: %+v", value, f)
		}
	}
}

// Doctor says from where packages come, and which registries are not there.
func TestDoctorTellsOfPackages(t *testing.T) {
	p := wiring.Paths{Home: t.TempDir()}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.Home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(status, text string) {
		t.Helper()
		if f := checkPackages(t.Context(), p); f.Status != status || !strings.Contains(f.Detail, text) {
			t.Errorf("found %+v", f)
		}
	}
	expect("ok", "the first session asks")
	write("registries.json", `{"sources":[]}`)
	expect("warn", "no tool of this machine")
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	write("config.json", `{"registries":{"sources":[{"ecosystem":"npm","url":"http://`+server.Addr().String()+`/"}]}}`)
	expect("ok", "agents install from npm")
	_ = server.Close()
	expect("warn", "cannot be reached: http://"+server.Addr().String())
	write("config.json", `{"registries":{"enabled":false}}`)
	expect("ok", "agents cannot install packages")
}

// A registry that is not at a public address is told apart from one that does not answer.
func TestDoctorTellsPrivateFromAway(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	d := netguard.Dialer{Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		return []netip.Addr{map[string]netip.Addr{"mirror.example": netip.MustParseAddr("127.0.0.1"), "cloud.example": netip.MustParseAddr("169.254.169.254")}[host]}, nil
	}}
	port := server.Addr().(*net.TCPAddr).Port
	mirror, cloud := fmt.Sprintf("http://mirror.example:%d/", port), fmt.Sprintf("http://cloud.example:%d/", port)
	away, inside := unreachable(t.Context(), d, []learn.Source{{URL: mirror}, {URL: mirror, Private: true}, {URL: cloud}, {URL: cloud, Private: true}})
	if !slices.Equal(away, []string{cloud, cloud}) || !slices.Equal(inside, []string{mirror}) {
		t.Errorf("away %q, inside %q", away, inside)
	}
}

// A session whose audit is full is refused everything: doctor says which one it is.
func TestDoctorTellsOfQuotas(t *testing.T) {
	p := wiring.Paths{Home: t.TempDir()}
	if f := checkQuotas(p); f.Status != "ok" || !strings.Contains(f.Detail, "16 MiB") || !strings.Contains(f.Detail, "1024 MiB for its audit") {
		t.Errorf("found %+v", f)
	}
	dir := filepath.Join(p.Home, "sessions", "some-session")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Truncate(audit.Quota); err != nil { // it takes no space
		t.Fatal(err)
	}
	if f := checkQuotas(p); f.Status != "warn" || !strings.Contains(f.Detail, "are refused: some-session") || f.Remedy == "" {
		t.Errorf("found %+v", f)
	}
}
