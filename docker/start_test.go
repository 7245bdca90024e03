package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestSpecIsValidated(t *testing.T) {
	dir := t.TempDir()
	good := Spec{Image: "x", Cmd: []string{"x"}, User: "1000:1000"}
	tests := []struct {
		name   string
		change func(*Spec)
		want   error
	}{
		{"complete", func(*Spec) {}, nil},
		{"no image", func(s *Spec) { s.Image = "" }, ErrSpec},
		{"no command", func(s *Spec) { s.Cmd = nil }, ErrSpec},
		{"no user", func(s *Spec) { s.User = "" }, ErrSpec},
		{"a user by name", func(s *Spec) { s.User = "codespace" }, ErrSpec},
		{"no group", func(s *Spec) { s.User = "1000" }, ErrSpec},
		{"root", func(s *Spec) { s.User = "0:0" }, ErrSpec},
		{"group root", func(s *Spec) { s.User = "1000:0" }, ErrSpec},
		{"root, written differently", func(s *Spec) { s.User = "00:1000" }, ErrSpec},
		{"negative limit", func(s *Spec) { s.Pids = -1 }, ErrSpec},
		{"too little memory", func(s *Spec) { s.MemoryMB = 3 }, ErrSpec},
		{"huge terminal", func(s *Spec) { s.Cols = 70000 }, ErrSpec},
		{"a mount", func(s *Spec) { s.Mounts = []Mount{{Source: dir, Target: "/a"}} }, nil},
		{"a mount from nowhere", func(s *Spec) { s.Mounts = []Mount{{Source: dir + "/none", Target: "/a"}} }, ErrMount},
		{"a relative source", func(s *Spec) { s.Mounts = []Mount{{Source: "a", Target: "/a"}} }, ErrMount},
		{"a relative target", func(s *Spec) { s.Mounts = []Mount{{Source: dir, Target: "a"}} }, ErrMount},
		{"over the root", func(s *Spec) { s.Mounts = []Mount{{Source: dir, Target: "/a/.."}} }, ErrMount},
		{"twice the same target", func(s *Spec) {
			s.Mounts = []Mount{{Source: dir, Target: "/a"}, {Source: dir, Target: "/a/"}}
		}, ErrMount},
		{"a volume", func(s *Spec) { s.Volumes = []VolumeMount{{Name: "ironcurtain-a-1", Target: "/a"}} }, nil},
		{"somebody else's volume", func(s *Spec) { s.Volumes = []VolumeMount{{Name: "mine", Target: "/a"}} }, ErrMount},
		{"a directory in place of a volume", func(s *Spec) { s.Volumes = []VolumeMount{{Name: "/etc", Target: "/a"}} }, ErrMount},
		{"a volume over the root", func(s *Spec) { s.Volumes = []VolumeMount{{Name: "ironcurtain-a", Target: "/"}} }, ErrMount},
		{"a volume at a relative target", func(s *Spec) { s.Volumes = []VolumeMount{{Name: "ironcurtain-a", Target: "a"}} }, ErrMount},
		{"a volume over a mount", func(s *Spec) {
			s.Mounts, s.Volumes = []Mount{{Source: dir, Target: "/a"}}, []VolumeMount{{Name: "ironcurtain-a", Target: "/a/"}}
		}, ErrMount},
		{"memory", func(s *Spec) { s.Tmpfs = []Tmpfs{{Target: "/a", Mode: fs.ModeSticky | 0o755}} }, nil},
		{"memory over the root", func(s *Spec) { s.Tmpfs = []Tmpfs{{Target: "/"}} }, ErrMount},
		{"memory with options", func(s *Spec) { s.Tmpfs = []Tmpfs{{Target: "/a:exec"}} }, ErrMount},
		{"memory of a strange mode", func(s *Spec) { s.Tmpfs = []Tmpfs{{Target: "/a", Mode: fs.ModeSetuid | 0o755}} }, ErrMount},
		{"memory in place of that of each container", func(s *Spec) { s.Tmpfs = []Tmpfs{{Target: "/run/"}} }, ErrMount},
		{"memory over a volume", func(s *Spec) {
			s.Volumes, s.Tmpfs = []VolumeMount{{Name: "ironcurtain-a", Target: "/a"}}, []Tmpfs{{Target: "/a"}}
		}, ErrMount},
		{"detached", func(s *Spec) { s.Detached = true }, nil},
		{"the engine's socket", func(s *Spec) { s.Mounts = []Mount{{Source: defaultSocket, Target: "/a"}} }, ErrMount},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := good
			tt.change(&s)
			if err := s.validate(false); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// Both numbers may be 0 where the engine is rootless, and nowhere else.
func TestUserIsValidated(t *testing.T) {
	for user, want := range map[string][2]error{ // by an engine that root runs, and by a rootless one
		"1000:1000": {nil, nil},
		"0:0":       {ErrSpec, nil},
		"0:1000":    {ErrSpec, ErrSpec},
		"1000:0":    {ErrSpec, ErrSpec},
		"00:0":      {ErrSpec, ErrSpec},
		"root":      {ErrSpec, ErrSpec},
	} {
		t.Run(user, func(t *testing.T) {
			for i, rootless := range []bool{false, true} {
				if err := validateUser(user, rootless); !errors.Is(err, want[i]) {
					t.Errorf("rootless %v: %v", rootless, err)
				}
			}
		})
	}
}

// A container runs with the runtime that was chosen, and with no other.
func TestRuntime(t *testing.T) {
	c := connect(t)
	ct := start(t, c, func(s *Spec) { s.Runtime = "runc" }, "sleep", "60")
	made, err := c.bound(deadline(t, patience)).InspectContainerWithOptions(engine.InspectContainerOptions{ID: ct.ID()})
	if err != nil || made.HostConfig.Runtime != "runc" && !onPodman { // which tells only libpod's clients
		t.Errorf("it runs with %q, %v", made.HostConfig.Runtime, err)
	}
	_, err = c.Start(deadline(t, patience), Spec{Image: image(t, c, "shell"), Cmd: []string{"true"}, User: "1000:1000", Runtime: "nonesuch", Labels: testLabel(t, c)})
	if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), `no runtime "nonesuch"`) || !strings.Contains(fault.Hint(err), "runtime") {
		t.Errorf("a runtime that the engine does not have: %v", err)
	}
}

func TestLimits(t *testing.T) {
	const gib = int64(1) << 30
	for _, tt := range []struct {
		wantMB int
		have   int64
		limit  int64
	}{{0, 32 * gib, 4 * gib}, {512, 32 * gib, gib / 2}, {0, 4 * gib, 3 * gib}, {100000, 8 * gib, 6 * gib}, {512, 0, gib / 2}} {
		t.Run(fmt.Sprint(tt.wantMB), func(t *testing.T) {
			if got := limitMemory(tt.wantMB, tt.have); got != tt.limit {
				t.Errorf("%d MB of %d bytes: %d, want %d", tt.wantMB, tt.have, got, tt.limit)
			}
		})
	}
	for _, tt := range []struct {
		want  float64
		have  int
		limit int64
	}{{0, 8, 2e9}, {0, 1, 1e9}, {4, 2, 2e9}, {0.5, 2, 5e8}, {0.0001, 2, 1e7}, {3, 0, 3e9}} {
		t.Run(fmt.Sprint(tt.want), func(t *testing.T) {
			if got := limitCPUs(tt.want, tt.have); got != tt.limit {
				t.Errorf("%v of %d processors: %d, want %d", tt.want, tt.have, got, tt.limit)
			}
		})
	}
}

func TestStartErrorsLeaveNothing(t *testing.T) {
	c := connect(t)
	tag := image(t, c, "shell")
	tests := []struct {
		name   string
		change func(*Spec)
		want   error
		text   string
	}{
		{"no such image", func(s *Spec) { s.Image = "ironcurtain/nonesuch:1" }, ErrNoImage, "images build"},
		{"the engine cannot start it", func(s *Spec) {
			s.Mounts = []Mount{{Source: "/etc", Target: "/etc/passwd"}} // a directory over a file
		}, nil, "directory"},
		{"a mount from nowhere", func(s *Spec) { s.Mounts = []Mount{{Source: "/nonesuch", Target: "/a"}} }, ErrMount, "/nonesuch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Spec{Image: tag, Cmd: []string{"true"}, User: "1000:1000", Labels: testLabel(t, c)}
			tt.change(&s)
			_, err := c.Start(deadline(t, patience), s)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			said := err.Error()
			said += fault.Hint(err)
			if !strings.Contains(said, tt.text) || strings.Contains(said, "\n") {
				t.Errorf("said %q, want one line with %q", said, tt.text)
			}
		})
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	c := connect(t)
	tag := image(t, c, "shell")
	for after := time.Duration(0); after < 200*time.Millisecond; after += 25 * time.Millisecond {
		labels := testLabel(t, c)
		ctx, cancel := context.WithTimeout(context.Background(), after)
		ct, err := c.Start(ctx, Spec{
			Image: tag, Cmd: []string{"sleep", "1000"}, User: "1000:1000", Labels: labels,
		})
		cancel()
		if err == nil {
			err = ct.Remove(deadline(t, patience))
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %v", after, err)
		}
	}
}

// road is a path to the engine that the test can cut and block.
type road struct {
	address string
	mu      sync.Mutex
	open    map[net.Conn]bool
	blocked chan struct{} // closed: traffic flows
	wg      sync.WaitGroup
}

// newRoad forwards connections to the engine at target.
func newRoad(t *testing.T, target string) *road {
	t.Helper()
	path := filepath.Join(shortDir(t), "r.sock")
	l := listen(t, path)
	r := &road{address: "unix://" + path, open: map[net.Conn]bool{}, blocked: make(chan struct{})}
	close(r.blocked)
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("unix", target)
			if err != nil {
				conn.Close()
				continue
			}
			r.mu.Lock()
			r.open[conn], r.open[there] = true, true
			r.mu.Unlock()
			r.wg.Add(2)
			go r.carry(conn, there)
			go r.carry(there, conn)
		}
	}()
	t.Cleanup(func() { l.Close(); r.flow(); r.cut(); r.wg.Wait() })
	return r
}

func (r *road) carry(to, from net.Conn) {
	defer r.wg.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		gate := r.blocked
		r.mu.Unlock()
		<-gate
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				_ = to.(*net.UnixConn).CloseWrite()
			}
			return
		}
	}
}

// cut breaks every connection there is now.
func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		c.Close()
	}
	clear(r.open)
}

// block stops the traffic without closing connections, like an engine that a signal has
// stopped; flow lets the traffic continue.
func (r *road) block() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = make(chan struct{})
}

func (r *road) flow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.blocked:
	default:
		close(r.blocked)
	}
}

// connectBy connects to the engine over a road.
func connectBy(t *testing.T) (*Client, *road) {
	t.Helper()
	direct := connect(t)
	r := newRoad(t, direct.Endpoint().SocketPath())
	c, err := Connect(deadline(t, patience), Endpoint{Address: r.address, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func TestWaitSurvivesALostEngine(t *testing.T) {
	c, r := connectBy(t)
	ct := start(t, c, nil, "sh", "-c", "read x; exit 5")
	type result struct {
		exit Exit
		err  error
	}
	done := make(chan result, 1)
	go func() {
		exit, err := ct.Wait(deadline(t, patience))
		done <- result{exit, err}
	}()
	if _, _, _, err := c.Exec(deadline(t, patience), ct.ID(), []string{"true"}, ""); err != nil {
		t.Fatal(err)
	}
	r.cut()
	read := make(chan struct{})
	go func() { // the container is attached again, and reading continues to the end
		defer close(read)
		_, _ = io.ReadAll(ct)
	}()
	eventually(t, patience, "the end", func() bool { // output is lost while nobody is attached
		_, _ = ct.Write([]byte("x\n"))
		select {
		case <-read:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	if got := <-done; got.err != nil || got.exit.Code != 5 {
		t.Errorf("got %+v, %v", got.exit, got.err)
	}
}

func TestHangingEngine(t *testing.T) {
	c, r := connectBy(t)
	ct := start(t, c, nil, "sleep", "1000")
	labels := testLabel(t, connect(t))
	r.block()
	for what, call := range map[string]func(context.Context) error{
		"resize": func(ctx context.Context) error { return ct.Resize(ctx, 80, 24) },
		"wait":   func(ctx context.Context) error { _, err := ct.Wait(ctx); return err },
		"list":   func(ctx context.Context) error { _, err := c.List(ctx, nil); return err },
		"attach": func(ctx context.Context) error { _, err := c.Attach(ctx, ct.ID()); return err },
		"exec": func(ctx context.Context) error {
			_, _, _, err := c.Exec(ctx, ct.ID(), []string{"true"}, "")
			return err
		},
		"hijack": func(ctx context.Context) error { _, err := c.attach(ctx, ct.ID()); return err },
		"start": func(ctx context.Context) error {
			_, err := c.Start(ctx, Spec{Image: "x", Cmd: []string{"x"}, User: "1:1", Labels: labels})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(began); took > patience/4 {
				t.Errorf("%s gave up only after %s", what, took)
			}
		})
	}
	r.flow()
}

// A client with a running container costs no goroutines beyond those of its
// one attachment; after Close none is left. goleak in TestMain checks that.
func TestConcurrentStarts(t *testing.T) {
	c := connect(t)
	tag := image(t, c, "shell")
	labels := testLabel(t, c)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ct, err := c.Start(deadline(t, patience), Spec{
				Image: tag, Cmd: []string{"echo", "here"}, User: "1000:1000", Labels: labels, MemoryMB: 64,
			})
			if err != nil {
				t.Error(err)
				return
			}
			out, err := io.ReadAll(ct)
			if err != nil || strings.TrimSpace(string(out)) != "here" {
				t.Errorf("got %q, %v", out, err)
			}
			if err := ct.Remove(deadline(t, patience)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestListAndRemoveLabeled(t *testing.T) {
	c := connect(t)
	ctx := deadline(t, patience)
	labels := testLabel(t, c)
	for range 3 {
		ct, err := c.Start(ctx, Spec{
			Image: image(t, c, "shell"), Cmd: []string{"sleep", "1000"}, User: "1000:1000", Labels: labels,
		})
		if err != nil {
			t.Fatal(err)
		}
		ct.Close()
	}
	list, err := c.List(ctx, labels)
	if err != nil || len(list) != 3 {
		t.Fatalf("listed %d, %v", len(list), err)
	}
	for _, s := range list {
		if !s.Running || s.Labels[LabelManaged] != "true" || s.Name == "" || s.CreatedAt.IsZero() {
			t.Errorf("%+v", s)
		}
	}
	// Somebody else's container with the very same label stays.
	foreign, err := c.bound(ctx).CreateContainer(engine.CreateContainerOptions{
		Config: &engine.Config{Image: image(t, c, "shell"), Cmd: []string{"true"}, Labels: labels}, Context: ctx,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.remove(ctx, foreign.ID) }()
	if err := c.RemoveLabeled(ctx, labels); err != nil {
		t.Error(err)
	}
	if left, err := c.List(ctx, labels); err != nil || len(left) != 0 {
		t.Errorf("%d are left, %v", len(left), err)
	}
	if _, err := c.state(ctx, foreign.ID); err != nil {
		t.Errorf("somebody else's container: %v", err)
	}
}
