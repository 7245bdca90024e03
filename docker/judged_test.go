package docker_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// No agent runs where an engine forgot a hardening flag: the judge of what is seen from
// inside refuses each of them, and names it. Limits that were forgotten are told.
func TestForgottenFlagsAreRefused(t *testing.T) {
	program := buildLook(t)
	for _, tt := range []struct {
		name    string
		strip   []string
		refused string // what the error names; empty: the agent may start
		warned  string // what the only warning names; empty: there is none
	}{
		{"nothing", nil, "", ""},
		{"network", []string{fakeengine.Network}, "a network", ""},
		{"capabilities", []string{fakeengine.Capabilities}, "capabilities", ""},
		{"new privileges", []string{fakeengine.NewPrivileges}, "gain privileges", ""},
		{"read-only root", []string{fakeengine.WritableRoot}, "root directory is writable", ""},
		{"seccomp", []string{fakeengine.Seccomp}, "not filtered", ""},
		{"user", []string{fakeengine.User}, "runs as user [0 0 0 0]", ""},
		{"all of them", fakeengine.Isolation(), "not filtered", ""},
		{"memory", []string{fakeengine.Memory}, "", "memory"},
		{"processes", []string{fakeengine.Processes}, "", "processes"},
		{"processors", []string{fakeengine.Processors}, "", "processor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, order := lookAround(t, program, t.TempDir(), fakeengine.Faults{Strip: tt.strip})
			warnings, err := report.Judge(seen.Want{
				UID: 1000, GID: 1000, MemoryBytes: int64(order.MemoryMB) << 20, Pids: int64(order.Pids), CPUs: order.CPUs,
			})
			if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
				t.Errorf("it is judged: %v, want %q", err, tt.refused)
			}
			said := strings.Join(warnings, "; ")
			if tt.warned == "" && said != "" || tt.warned != "" && (len(warnings) != 1 || !strings.Contains(said, tt.warned)) {
				t.Errorf("the warnings are %q, want one of %q", said, tt.warned)
			}
		})
	}
}

// Where an engine binds something else than the directory that was meant, the container's
// token is not there.
func TestTokensTellWhoseDirectoryIsBound(t *testing.T) {
	program := buildLook(t)
	not := func(source string) bool { return source != program }
	for _, tt := range []struct {
		name   string
		faults fakeengine.Faults
		shared bool
	}{
		{"shared", fakeengine.Faults{}, true},
		{"empty", fakeengine.Faults{EmptyBinds: true, Unshared: not}, false},
		{"copied", fakeengine.Faults{OtherInodes: true, Unshared: not}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			work := t.TempDir()
			report, _ := lookAround(t, program, work, tt.faults)
			if len(report.Tokens) != 1 || report.Tokens[0].Failed != "" {
				t.Fatalf("the tokens are %+v", report.Tokens)
			}
			_, err := os.Lstat(filepath.Join(work, report.Tokens[0].Name))
			if tt.shared && err != nil || !tt.shared && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the token on this side: %v", err)
			}
		})
	}
}

// buildLook builds the program that looks around in a container, and returns its path.
func buildLook(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "look")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/look")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// lookAround starts a hardened container through an engine with faults and returns what
// our program reports from there. It leaves a token in work.
func lookAround(t *testing.T, program, work string, faults fakeengine.Faults) (seen.Seen, docker.Spec) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c, order := hardenedOrder(ctx, t, faults)
	return look(ctx, t, c, order, program, work), order
}

// look starts a container of that order and returns what our program reports from there.
func look(ctx context.Context, t *testing.T, c *docker.Client, order docker.Spec, program, work string) seen.Seen {
	t.Helper()
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	order.Mounts = []docker.Mount{{Source: program, Target: "/mnt/look", ReadOnly: true}, {Source: work, Target: "/mnt/work"}}
	order.Cmd = []string{"/mnt/look", "/mnt/work"}
	ct, err := c.Start(ctx, order)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ct.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	text, err := io.ReadAll(ct)
	if err != nil {
		t.Fatal(err)
	}
	report, err := seen.Parse(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return report
}
