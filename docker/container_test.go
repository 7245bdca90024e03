package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	engine "github.com/fsouza/go-dockerclient"
)

// readAll reads a container's output until its end.
func readAll(t testing.TB, ct *Container) string {
	t.Helper()
	out, err := io.ReadAll(ct)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// readUntil reads until the output ends with want.
func readUntil(t testing.TB, r io.ByteReader, want string) {
	t.Helper()
	var got []byte
	for !bytes.HasSuffix(got, []byte(want)) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		got = append(got, b)
	}
}

// inside runs a shell command in a container and returns its output.
func inside(t testing.TB, c *Client, id, script string) string {
	t.Helper()
	out, errs, code, err := c.Exec(deadline(t, patience), id, []string{"/bin/sh", "-c", script}, "")
	if err != nil {
		t.Fatal(err)
	}
	if code != 0 {
		t.Fatalf("%s: code %d: %s%s", script, code, out, errs)
	}
	return strings.TrimSpace(out)
}

func TestExit(t *testing.T) {
	c := connect(t)
	tests := []struct {
		name string
		cmd  []string
		want Exit
	}{
		{"well", []string{"true"}, Exit{}},
		{"badly", []string{"sh", "-c", "exit 7"}, Exit{Code: 7, Reason: "ended with code 7"}},
		{"by a signal", []string{"sh", "-c", "kill -9 $$"}, Exit{Code: 137, Reason: "ended by signal 9"}},
		{"no such program", []string{"nonesuch"}, Exit{Code: 127, Reason: "ended with code 127"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ct := start(t, c, nil, tt.cmd...)
			readAll(t, ct)
			got, err := ct.Wait(deadline(t, patience))
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
			if n, err := ct.Write([]byte("x")); err == nil {
				t.Errorf("%d bytes were written to an ended program", n)
			}
		})
	}
}

// An end by the memory limit is told as such. On control groups of version 1 a busy engine loses a few
// of a hundred of these events; then nobody can know more than the signal.
func TestOutOfMemory(t *testing.T) {
	c := connect(t)
	var got Exit
	for range 5 {
		ct := start(t, c, func(s *Spec) { s.MemoryMB = 32 }, "tail", "/dev/zero")
		readAll(t, ct)
		var err error
		if got, err = ct.Wait(deadline(t, patience)); err != nil {
			t.Fatal(err)
		}
		if got.OOMKilled || got.Reason != "ended by signal 9" {
			break
		}
	}
	if !got.OOMKilled || got.Code != 137 || !strings.Contains(got.Reason, "memory") {
		t.Errorf("got %+v", got)
	}
}

// FollowMemory reports a program that was killed because of the memory limit while the
// container still runs, because it reads the engine's events. It also reports one that
// was killed while it was not connected.
func TestMemoryLimitIsToldOfAtOnce(t *testing.T) {
	c := connect(t)
	ct := start(t, c, func(s *Spec) { s.MemoryMB = 32 }, "sh", "-c",
		`stty -echo; echo ready; while read line; do tail /dev/zero; echo survived; done`)
	in := bufio.NewReader(ct)
	readUntil(t, in, "ready\r\n")
	begun := time.Now()
	follow := func(ctx context.Context, since time.Time) <-chan time.Time {
		hits := make(chan time.Time, 10)
		go func() {
			defer close(hits)
			_ = c.memoryEvents(ctx, ct.ID(), since, func(at time.Time) { hits <- at })
		}()
		return hits
	}
	hit := func(hits <-chan time.Time) (at time.Time) {
		t.Helper()
		select {
		case at = <-hits:
		case <-time.After(patience):
		}
		if at.IsZero() {
			t.Fatal("nobody was told")
		}
		return at
	}
	told := make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() { defer close(followed); ct.FollowMemory(ctx, func() { told <- struct{}{} }) }()
	for range 2 {
		if _, err := ct.Write([]byte("go on\n")); err != nil {
			t.Fatal(err)
		}
		readUntil(t, in, "survived\r\n")
	}
	first := hit(follow(ctx, begun))
	hit(follow(ctx, first.Add(1)))
	for range 2 {
		select {
		case <-told:
		case <-time.After(patience):
			t.Fatal("nobody was told")
		}
	}
	if state, err := c.state(deadline(t, patience), ct.ID()); err != nil || !state.Running {
		t.Errorf("it has ended: %+v, %v", state, err)
	}
	cancel()
	<-followed
}

func TestReattach(t *testing.T) {
	c := connect(t)
	ct, in := raw(t, c)
	if err := ct.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ct.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadByte(); err == nil {
		t.Error("a closed container can be read")
	}
	if _, err := ct.Write([]byte("x")); err == nil {
		t.Error("a closed container can be written to")
	}
	again, err := c.Attach(deadline(t, patience), ct.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Write([]byte("hello again")); err != nil {
		t.Fatal(err)
	}
	readUntil(t, bufio.NewReader(again), "hello again")
	if err := again.Resize(deadline(t, patience), 100, 30); err != nil {
		t.Error(err)
	}
}

func TestReplay(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sh", "-c", `stty -opost; i=0; while [ $i -lt 2000 ]; do echo "line $i"; i=$((i+1)); done; printf '\033[1mend\n'; exec sleep 1000`)
	readUntil(t, bufio.NewReader(ct), "end")
	ct.Close()
	var all bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%d bytes, %.40q … %q", all.Len(), all.String(), all.String()[max(0, all.Len()-60):])
		}
	})
	eventually(t, patience, "the log is complete", func() bool {
		all.Reset()
		if err := c.Replay(deadline(t, patience), ct.ID(), &all); err != nil {
			t.Fatal(err)
		}
		return strings.HasSuffix(all.String(), "end\n")
	})
	if !strings.HasPrefix(all.String(), "line 0\nline 1\n") || !strings.HasSuffix(all.String(), "line 1999\n\x1b[1mend\n") {
		t.Errorf("%d bytes, from %.20q", all.Len(), all.String())
	}
	if err := c.Replay(deadline(t, patience), "nonesuch", &all); !errors.Is(err, ErrNoContainer) {
		t.Errorf("got %v", err)
	}
	full := errors.New("full")
	if err := c.Replay(deadline(t, patience), ct.ID(), failing{full}); !errors.Is(err, full) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestAttachRefusals(t *testing.T) {
	c := connect(t)
	ctx := deadline(t, patience)
	if _, err := c.Attach(ctx, "nonesuch"); !errors.Is(err, ErrNoContainer) {
		t.Errorf("unknown: %v", err)
	}
	ended := start(t, c, nil, "true")
	readAll(t, ended)
	if _, err := ended.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Attach(ctx, ended.ID()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("ended: %v", err)
	}
	foreign, err := c.bound(ctx).CreateContainer(engine.CreateContainerOptions{
		Config: &engine.Config{
			Image: image(t, c, "shell"), Cmd: []string{"sleep", "1000"}, Labels: map[string]string{LabelManaged: ""},
		},
		HostConfig: &engine.HostConfig{NetworkMode: "none", Ulimits: ownLimits()},
		Context:    ctx,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.remove(ctx, foreign.ID) }()
	if err := c.bound(ctx).StartContainer(foreign.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Attach(ctx, foreign.ID); !errors.Is(err, ErrNoContainer) {
		t.Errorf("somebody else's: %v", err)
	}
	// The library itself reports success here and writes the engine's refusal
	// to the terminal.
	if s, err := c.attach(ctx, "nonesuch"); !errors.Is(err, ErrNoContainer) {
		t.Errorf("a refused attachment gives %v, %v", s, err)
	}
}

func TestWaitRemoved(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sleep", "1000")
	done := make(chan error, 1)
	var exit Exit
	go func() {
		var err error
		exit, err = ct.Wait(deadline(t, patience))
		done <- err
	}()
	if err := c.remove(deadline(t, patience), ct.ID()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || exit.Code != 137 || exit.Reason == "" {
		t.Errorf("got %+v, %v", exit, err)
	}
	if err := ct.Remove(deadline(t, patience)); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
}

func TestWaitCancelled(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sleep", "1000")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ct.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestExec(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sleep", "1000")
	ctx := deadline(t, patience)
	out, errs, code, err := c.Exec(ctx, ct.ID(), []string{"sh", "-c", "echo a; echo b >&2; exit 3"}, "")
	if out != "a\n" || errs != "b\n" || code != 3 || err != nil {
		t.Errorf("got %q, %q, %d, %v", out, errs, code, err)
	}
	if _, _, code, err := c.Exec(ctx, ct.ID(), []string{"nonesuch"}, ""); err == nil && code == 0 {
		t.Error("a program that is not there succeeds")
	}
	if _, _, _, err := c.Exec(ctx, "nonesuch", []string{"true"}, ""); !errors.Is(err, ErrNoContainer) {
		t.Errorf("in no container: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, _, _, err := c.Exec(short, ct.ID(), []string{"sleep", "1000"}, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("too slow: %v", err)
	}
}

func TestRealClaude(t *testing.T) {
	c := connect(t)
	tag := image(t, c, "claude-code")
	ct := start(t, c, func(s *Spec) { s.Image = tag; s.MemoryMB = 1024 }, "claude", "--version")
	out := readAll(t, ct)
	var spec ImageSpec
	for _, i := range Images() {
		if i.Name == "claude-code" {
			spec = i
		}
	}
	if !strings.Contains(out, spec.Version) {
		t.Errorf("it says %q, the pinned version is %s", out, spec.Version)
	}
	if exit, err := ct.Wait(deadline(t, patience)); err != nil || exit.Code != 0 {
		t.Errorf("got %+v, %v", exit, err)
	}
}
