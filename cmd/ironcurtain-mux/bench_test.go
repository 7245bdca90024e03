package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// BenchmarkKeystroke measures from a key to its echo on the screen, through a
// shell tab and through tmux with docker exec in a container of the same image:
//
//	go test -run '^$' -bench Keystroke ./cmd/ironcurtain-mux
func BenchmarkKeystroke(b *testing.B) {
	b.Run("ironcurtain-mux", func(b *testing.B) {
		d := drive(b, newHome(b), 100, 30, "demo", "--agent", "shell")
		d.until("a prompt", patience, prompted)
		echo(b, d)
	})
	b.Run("tmux-docker-exec", func(b *testing.B) {
		id := plainContainer(b)
		d := driveArgv(b, newHome(b), 100, 30, "tmux", "-L", "bench-"+id[:12], "-f", "/dev/null",
			"new-session", "docker", "exec", "-it", "-u", "1000:1000", "-e", `PS1=\w\$ `, id, "bash", "--norc")
		defer exec.Command("tmux", "-L", "bench-"+id[:12], "kill-server").Run() // it may be gone
		d.until("a prompt", patience, prompted)
		echo(b, d)
	})
}

// BenchmarkKeystrokeLocal measures the same with a shell of this machine, so that
// nothing but the multiplexers differs:
//
//	go test -run '^$' -bench KeystrokeLocal ./cmd/ironcurtain-mux
func BenchmarkKeystrokeLocal(b *testing.B) {
	shell := []string{"env", noEngine, "SHELL=/bin/sh", "PS1=/$ ", "ENV="}
	b.Run("no-multiplexer", func(b *testing.B) {
		measureEcho(b, newHome(b), append(shell, "/bin/sh"))
	})
	b.Run("ironcurtain-mux", func(b *testing.B) {
		home := newHome(b)
		allowLocalShell(b, home)
		measureEcho(b, home, append(shell, "ironcurtain-mux", "--agent", "local-shell"))
	})
	b.Run("tmux", func(b *testing.B) {
		socket := filepath.Join(b.TempDir(), "s")
		defer exec.Command("tmux", "-S", socket, "kill-server").Run() // it may be gone
		measureEcho(b, newHome(b), append(shell, "tmux", "-S", socket, "-f", "/dev/null", "new-session", "/bin/sh"))
	})
}

// measureEcho is echo in what argv starts, once it shows a prompt.
func measureEcho(b *testing.B, home string, argv []string) {
	b.Helper()
	d := driveArgv(b, home, 100, 30, slices.Clone(argv)...)
	d.until("a prompt", patience, prompted)
	echo(b, d)
}

// atPrompt matches a shell's prompt on a line of its own.
var atPrompt = regexp.MustCompile(`(?m)^/\w*\$$`)

func prompted(screen string) bool { return atPrompt.MatchString(screen) }

// awaitEcho returns a tap of a program's output, and what tells that an x has come back there.
func awaitEcho() (tap func(output []byte), back <-chan struct{}) {
	echoes := make(chan struct{}, 1) // lossy: one echo is awaited at a time
	return func(output []byte) {
		if bytes.IndexByte(output, 'x') >= 0 {
			select {
			case echoes <- struct{}{}:
			default:
			}
		}
	}, echoes
}

// echo types one character at a time, with a pause as a person makes one, and
// reports how long it took until each came back, in the program's raw output.
func echo(b *testing.B, d *driver) {
	b.Helper()
	tap, back := awaitEcho()
	d.tap.Store(&tap)
	defer d.tap.Store(nil)
	var times []time.Duration
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for b.Loop() {
		<-pause.C
		began := time.Now()
		d.send("x")
		select {
		case <-back:
		case <-time.After(10 * time.Second):
			b.Fatalf("a key did not come back; the screen:\n%s", d.text())
		}
		times = append(times, time.Since(began))
		if len(times)%50 == 0 {
			d.send("\x15") // the line is emptied before it wraps
			d.until("an empty line", 10*time.Second, prompted)
		}
	}
	reportMedian(b, times)
}

// BenchmarkEscalation measures from a call's arrival at the approval queue to its
// mark on the screen, with the real agent making the call:
//
//	go test -run '^$' -bench Escalation ./cmd/ironcurtain-mux
func BenchmarkEscalation(b *testing.B) {
	d := openDemo(b, newHome(b))
	var times []time.Duration
	for b.Loop() {
		d.ask("list " + d.state("demo", "outside"))
		d.see(patience, "1 waiting")
		seen := time.Now()
		waiting := d.pending()
		if len(waiting) != 1 {
			b.Fatalf("pending: %+v", waiting)
		}
		times = append(times, seen.Sub(waiting[0].AskedAt))
		if _, errs, code := d.command("approve", waiting[0].ID); code != 0 {
			b.Fatal(errs)
		}
		d.until("the end of the turn", patience, func(s string) bool {
			return !strings.Contains(s, "1 waiting") && !strings.Contains(s, "esc to interrupt")
		})
	}
	reportMedian(b, times)
}

// plainContainer runs an idle container of the shell's image.
func plainContainer(b *testing.B) string {
	b.Helper()
	client := engine(b)
	image, err := client.EnsureImage(b.Context(), "shell", docker.BuildOptions{CacheDir: cacheDirectory(b), Recipe: standardRecipe})
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.Start(b.Context(), docker.Spec{
		Image: image, Cmd: []string{"sleep", "600"}, User: "1000:1000", WorkingDir: "/tmp",
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Remove(context.Background()) })
	return c.ID()
}

func reportMedian(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	if len(times) > 0 {
		b.ReportMetric(float64(median(times).Microseconds()), "p50-us")
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
