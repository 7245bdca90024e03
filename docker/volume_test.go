package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	engine "github.com/fsouza/go-dockerclient"
)

// testVolume makes a volume that only this test uses, removed at the end.
func testVolume(t *testing.T, c *Client, labels map[string]string) string {
	t.Helper()
	name := fmt.Sprintf("ironcurtain-test-%d-%d", os.Getpid(), labelCount.Add(1))
	t.Cleanup(func() {
		if err := c.RemoveVolume(deadline(t, patience), name); err != nil {
			t.Error(err)
		}
	})
	if err := c.CreateVolume(deadline(t, patience), name, labels); err != nil {
		t.Fatal(err)
	}
	return name
}

// A volume is made once and found by its labels. Nobody else's is taken for ours.
func TestVolumes(t *testing.T) {
	c, ctx := connect(t), deadline(t, patience)
	labels := testLabel(t, c)
	name := testVolume(t, c, labels)
	labels[LabelHost] = "renamed"
	if err := c.CreateVolume(ctx, name, labels); err != nil {
		t.Errorf("made again: %v", err)
	}
	delete(labels, LabelHost)
	list, err := c.Volumes(ctx, labels)
	if err != nil || len(list) != 1 || list[0].Name != name || list[0].Labels[LabelManaged] != "true" || list[0].CreatedAt.IsZero() {
		t.Errorf("the volumes are %+v, %v", list, err)
	}
	other := maps.Clone(labels)
	other["ironcurtain.test"] = "another"
	if err := c.CreateVolume(ctx, name, other); !errors.Is(err, ErrVolume) {
		t.Errorf("made again with other labels: %v", err)
	}
	if list, err := c.Volumes(ctx, other); err != nil || len(list) != 0 {
		t.Errorf("of another test there are %+v, %v", list, err)
	}

	foreign := name + "-foreign"
	if _, err := c.bound(ctx).CreateVolume(engine.CreateVolumeOptions{Name: foreign, Labels: labels}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.bound(deadline(t, patience)).RemoveVolumeWithOptions(engine.RemoveVolumeOptions{Name: foreign})
	})
	if err := c.CreateVolume(ctx, foreign, labels); !errors.Is(err, ErrVolume) {
		t.Errorf("a volume of somebody else's is taken: %v", err)
	}
	if list, err := c.Volumes(ctx, labels); err != nil || len(list) != 1 {
		t.Errorf("a volume of somebody else's is listed: %+v, %v", list, err)
	}
	_, err = c.Start(ctx, Spec{Image: image(t, c, "shell"), Cmd: []string{"true"}, User: "1000:1000", Labels: testLabel(t, c), Volumes: []VolumeMount{{Name: foreign, Target: "/a"}}})
	if !errors.Is(err, ErrMount) || !strings.Contains(err.Error(), foreign) {
		t.Errorf("a volume of somebody else's is mounted: %v", err)
	}

	sizes, err := c.VolumeSizes(ctx)
	if size, known := sizes[name]; err != nil || !known || size < 0 || size > 1<<20 {
		t.Errorf("its size is %d (%t), %v", size, known, err)
	}
	if err := c.RemoveVolume(ctx, name); err != nil {
		t.Error(err)
	}
	if err := c.RemoveVolume(ctx, name); err != nil {
		t.Errorf("removed again: %v", err)
	}
	for _, bad := range []string{"", "mine", "ironcurtain-", "ironcurtain-../x", "/ironcurtain-x", "ironcurtain-x?force=1"} {
		t.Run(bad, func(t *testing.T) {
			if err := c.RemoveVolume(ctx, bad); !errors.Is(err, ErrVolume) {
				t.Errorf("remove: %v", err)
			}
			if err := c.CreateVolume(ctx, bad, nil); !errors.Is(err, ErrVolume) {
				t.Errorf("create: %v", err)
			}
		})
	}
}

// homes is a layer with a home and a workspace that belong to the agent.
var homes = Layer{Files: []LayerFile{
	{Path: "/home/codespace", Dir: true, UID: 1000, GID: 1000, Mode: 0o700},
	{Path: "/workspace", Dir: true, UID: 1000, GID: 1000, Mode: 0o755},
}}

// testLayer makes a layer on the shell image, removed at the end.
func testLayer(t *testing.T, c *Client, l Layer) string {
	t.Helper()
	l.Files = append(slices.Clone(l.Files), LayerFile{Path: "/usr/share/ironcurtain-test", Data: []byte(t.Name()), Mode: 0o444})
	tag, err := c.EnsureLayer(deadline(t, patience), image(t, c, "shell"), l, BuildOptions{CacheDir: t.TempDir(), OnProgress: func(p Progress) { t.Log(p) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(tag) })
	return tag
}

// A container whose files are in volumes and in memory is confined as any. New volumes belong to the
// agent, keep what it writes and end with nobody's help; one of objects is read-only, wherever it is
// mounted.
func TestVolumeMounts(t *testing.T) {
	c := connect(t)
	memory := []Tmpfs{{Target: "/etc/ironcurtain"}, {Target: "/attachments"}, {Target: "/root", Mode: 0o755}}
	layer := homes
	for _, m := range memory {
		layer.Files = append(slices.Clone(layer.Files), m.MountPoint())
	}
	tag := testLayer(t, c, layer)
	home, work, objects := testVolume(t, c, nil), testVolume(t, c, nil), testVolume(t, c, nil)
	mounted := func(s *Spec) {
		s.Image = tag
		s.Volumes = []VolumeMount{
			{Name: home, Target: "/home/codespace"},
			{Name: work, Target: "/workspace"},
			{Name: objects, Target: "/root/a project/.git/objects", ReadOnly: true},
			{Name: objects, Target: "/srv/other/.git/objects", ReadOnly: true},
		}
		s.Tmpfs = memory
	}
	first := start(t, c, mounted, "sleep", "1000")
	for _, tt := range []struct{ what, script, want string }{
		{"owner and mode", "stat -c '%u:%g %a' /home/codespace /workspace", "1000:1000 700\n1000:1000 755"},
		{"they are empty", "ls -A /home/codespace /workspace | grep -v :$ | tr -d '\\n'", ""},
		{"they can be written", "echo kept | tee /home/codespace/kept >/workspace/kept; cat /workspace/kept", "kept"},
		{"devices and set-uid programs", "touch /workspace/s; chmod 4755 /workspace/s; grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1"},
		{"objects are read-only", "touch '/root/a project/.git/objects/x' 2>/dev/null || touch /srv/other/.git/objects/x 2>/dev/null || echo refused", "refused"},
		{"memory", "stat -c '%u:%g %a' /etc/ironcurtain /attachments /root", "0:0 1777\n0:0 1777\n0:0 755"},
		{"memory can be written", "echo told >/etc/ironcurtain/told; touch /attachments/x; cat /etc/ironcurtain/told", "told"},
		{"memory is confined", "awk '$2~/^\\/(etc\\/ironcurtain|attachments|root)$/ && $3==\"tmpfs\" && /noexec/ && /nosuid/ && /nodev/ && /size=65536k/' /proc/mounts | wc -l", "3"},
		{"the root is read-only", "touch /x /root/x /srv/other/x /etc/x /home/x 2>/dev/null; echo $?", "1"},
		{"no capabilities", "grep -h ^Cap /proc/1/status /proc/self/status | grep -v 0000000000000000; true", ""},
		{"interfaces", "ls /sys/class/net", "lo"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			if got := inside(t, c, first.ID(), tt.script); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if err := c.RemoveVolume(deadline(t, patience), work); !errors.Is(err, ErrVolumeInUse) {
		t.Errorf("a volume that a container has: %v", err)
	}
	if err := first.Remove(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	second := start(t, c, mounted, "sleep", "1000")
	if got := inside(t, c, second.ID(), "cat /home/codespace/kept /workspace/kept; stat -c '%u:%g %a' /workspace; ls -A /etc/ironcurtain"); got != "kept\nkept\n1000:1000 755" {
		t.Errorf("the next container has %q", got)
	}
}

func TestTmpfsOptions(t *testing.T) {
	for want, mode := range map[string]fs.FileMode{"mode=1777,": 0, "mode=0755,": 0o755, "mode=1770,": fs.ModeSticky | 0o770} {
		t.Run(want, func(t *testing.T) {
			if got := (Tmpfs{Target: "/a", Mode: mode}).options(); !strings.Contains(got, want) {
				t.Errorf("%s", got)
			}
		})
	}
}
