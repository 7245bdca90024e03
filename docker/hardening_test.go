package docker

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	engine "github.com/fsouza/go-dockerclient"
)

func TestHardening(t *testing.T) {
	c := connect(t)
	ct := start(t, c, nil, "sleep", "1000")
	tests := []struct{ what, script, want string }{
		{"uid and gid", "id -u; id -g; id -G", "1000\n1000\n1000"},
		{"capabilities of the agent", "grep -h ^Cap /proc/1/status /proc/self/status | grep -v 0000000000000000; true", ""},
		{"no new privileges", "grep -h NoNewPrivs /proc/1/status /proc/self/status | sort -u", "NoNewPrivs:\t1"},
		{"system call filter", "grep -h Seccomp: /proc/1/status", "Seccomp:\t2"},
		{"interfaces", "ls /sys/class/net", "lo"},
		{"routes", "tail -n +2 /proc/net/route", ""},
		{"root is read-only", "touch /x /usr/x /etc/x 2>/dev/null; echo $?", "1"},
		{"root mount", "awk '$2==\"/\"{split($4,o,\",\"); print o[1]}' /proc/mounts", "ro"},
		{"temporary directories are writable", "touch /tmp/x /var/tmp/x && echo yes", "yes"},
		{"temporary directories are confined", "awk '$2~/^\\/(tmp|var\\/tmp|run)$/ && $3==\"tmpfs\" && /nosuid/ && /nodev/ && /size=/' /proc/mounts | wc -l", "3"},
		{"run belongs to root", "touch /run/x 2>/dev/null; echo $?", "1"},
		{"init process", "cat /proc/1/comm | cut -d- -f2", "init"},
		{"no core dumps", "ulimit -c; ulimit -H -c", "0\n0"},
		{"no engine socket", "ls /var/run/docker.sock /run/docker.sock 2>/dev/null; true", ""},
		{"no block devices", "find /dev -type b", ""},
		{"private shared memory", "ls -A /dev/shm", ""},
		{"hidden parts of proc", "cat /proc/kcore /proc/keys 2>/dev/null | wc -c", "0"},
		{"set-uid programs give nothing", "find / -xdev -perm -4000 -type f 2>/dev/null | head -1 | while read p; do $p --version >/dev/null 2>&1; done; id -u", "1000"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			if got := inside(t, c, ct.ID(), tt.script); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("limits", func(t *testing.T) {
		memory := inside(t, c, ct.ID(), "cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max")
		if memory != strconv.Itoa(512<<20) {
			t.Errorf("memory %s", memory)
		}
		pids := inside(t, c, ct.ID(), "cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max")
		if pids != "256" {
			t.Errorf("processes %s", pids)
		}
		cpu := inside(t, c, ct.ID(), "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cut -d' ' -f1 /sys/fs/cgroup/cpu.max")
		if cpu != "100000" {
			t.Errorf("processor %s", cpu)
		}
	})
	t.Run("as the engine sees it", func(t *testing.T) {
		found, err := c.bound(deadline(t, patience)).InspectContainerWithOptions(engine.InspectContainerOptions{ID: ct.ID()})
		if err != nil {
			t.Fatal(err)
		}
		h := found.HostConfig
		if h.NetworkMode != "none" || h.Privileged || h.AutoRemove || h.RestartPolicy.Name != "no" || len(h.CapAdd) > 0 || len(h.Devices) > 0 {
			t.Errorf("%+v", h)
		}
		// Podman calls what no other container joins private and shareable, and does not tell how
		// large a log may become.
		if !onPodman && (h.IpcMode != "private" || h.PidMode != "" || h.LogConfig.Config["max-size"] == "") ||
			onPodman && (h.IpcMode != "shareable" || h.PidMode != "private") {
			t.Errorf("%+v", h)
		}
		if found.Config.Labels[LabelManaged] != "true" {
			t.Error("the label is missing")
		}
	})
}

// A plain container must fail the same checks, to show that they can fail.
func TestHardeningCheckCanFail(t *testing.T) {
	c := connect(t)
	ctx := deadline(t, patience)
	labels := testLabel(t, c)
	labels[LabelManaged] = "true"
	created, err := c.bound(ctx).CreateContainer(engine.CreateContainerOptions{
		Config:     &engine.Config{Image: image(t, c, "shell"), Cmd: []string{"sleep", "1000"}, User: "0", Labels: labels},
		HostConfig: &engine.HostConfig{NetworkMode: "host"}, // there need not be a bridge
		Context:    ctx,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.RemoveLabeled(ctx, labels) }()
	if err := c.bound(ctx).StartContainer(created.ID, nil); err != nil {
		t.Fatal(err)
	}
	for script, hardened := range map[string]string{
		"ls /sys/class/net":                                      "lo",
		"grep -h ^CapEff /proc/1/status | cut -f2":               "0000000000000000",
		"grep -h NoNewPrivs /proc/1/status | cut -f2":            "1",
		"touch /x 2>/dev/null; echo $?":                          "1",
		"awk '$2==\"/\"{print substr($4,1,2)}' /proc/mounts":     "ro",
		"awk '$2==\"/tmp\" && $3==\"tmpfs\"' /proc/mounts|wc -l": "1",
	} {
		t.Run(script, func(t *testing.T) {
			if got := inside(t, c, created.ID, script); got == hardened {
				t.Errorf("%s says %q in a plain container too", script, got)
			}
		})
	}
}

func TestMounts(t *testing.T) {
	c := connect(t)
	dir := shortDir(t)
	sockets, work := filepath.Join(dir, "s"), filepath.Join(dir, "w:x") // a colon is an ordinary character
	for _, d := range []string{sockets, work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	l := listen(t, filepath.Join(sockets, "proxy.sock"))
	if err := os.Chmod(filepath.Join(sockets, "proxy.sock"), 0o666); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	}()
	defer func() { l.Close(); <-done }()
	ct := start(t, c, func(s *Spec) {
		s.Mounts = []Mount{
			{Source: sockets, Target: "/run/ironcurtain", ReadOnly: true},
			{Source: work, Target: "/workspace"},
		}
	}, "sleep", "1000")
	if got := inside(t, c, ct.ID(), `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new("/run/ironcurtain/proxy.sock") or die $!; print $s "through"; $s->shutdown(1); print <$s>'`); got != "through" {
		t.Errorf("through the socket came %q", got)
	}
	if got := inside(t, c, ct.ID(), "touch /run/ironcurtain/x 2>/dev/null || echo refused; rm /run/ironcurtain/proxy.sock 2>/dev/null || echo kept"); got != "refused\nkept" {
		t.Errorf("the socket directory is not read-only: %q", got)
	}
	inside(t, c, ct.ID(), "echo hello > /workspace/file")
	if text, err := os.ReadFile(filepath.Join(work, "file")); err != nil || string(text) != "hello\n" {
		t.Errorf("the workspace has %q, %v", text, err)
	}
}

// Nothing of an image runs before the command that waits for its terminal's size, and nothing
// beside it.
func TestNothingOfAnImageRuns(t *testing.T) {
	c := connect(t)
	spec, parent, tag := testImage(t, c, "ENTRYPOINT [\"touch\", \"/tmp/entry\"]\nHEALTHCHECK --interval=1s CMD touch /tmp/health\n")
	if err := newBuild(t, c, t.TempDir()).ensure(deadline(t, patience), spec, parent, tag); err != nil {
		t.Fatal(err)
	}
	ct := start(t, c, func(s *Spec) { s.Image, s.Waits = tag, true }, "sleep", "1000")
	found, err := c.bound(deadline(t, patience)).InspectContainerWithOptions(engine.InspectContainerOptions{ID: ct.ID()})
	if err != nil {
		t.Fatal(err)
	}
	if h := found.Config.Healthcheck; h == nil || len(h.Test) != 1 || h.Test[0] != "NONE" {
		t.Errorf("the image is asked for its health: %+v", h)
	}
	args := found.Args
	if onPodman { // which names its init program first
		args = args[1:]
	} else {
		args = append([]string{found.Path}, args...)
	}
	if !slices.Equal(args, []string{"sleep", "1000"}) {
		t.Errorf("it runs %s %q", found.Path, found.Args)
	}
	if got := inside(t, c, ct.ID(), "ls /tmp"); got != "" {
		t.Errorf("the image has left %q", got)
	}
	if size := inside(t, c, ct.ID(), "stty size </proc/1/fd/0 || true"); size != "40 120" {
		t.Errorf("the size of its terminal is %q", size)
	}
}
