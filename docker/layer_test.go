package docker

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	engine "github.com/fsouza/go-dockerclient"
)

// What is in a layer is in containers of it, with owner and mode, also where the image has something
// else, and in an image that is not of this program.
func TestLayer(t *testing.T) {
	c := connect(t)
	// Somebody else's image: another user, a start of its own, no accounts, a home in the way.
	spec, parent, foreign := testImage(t, c, "USER 0\nRUN rm -rf /etc/passwd /home/codespace; ln -s /tmp /home/codespace; mkdir -p /opt/full; touch /opt/full/file\nUSER 12345\nENTRYPOINT [\"false\"]\n")
	if err := newBuild(t, c, t.TempDir()).ensure(deadline(t, patience), spec, parent, foreign); err != nil {
		t.Fatal(err)
	}
	l := Layer{Files: []LayerFile{
		{Path: "/usr/local/bin/helper", Data: []byte("#!/bin/sh\necho helps\n"), Mode: 0o755},
		{Path: "/home/codespace", Dir: true, UID: 1000, GID: 1000, Mode: 0o700},
		{Path: "/etc/passwd", Data: []byte("a:x:1000:1000::/home/codespace:/bin/sh\n"), Mode: 0o444},
		{Path: "/opt/full", Dir: true, UID: 1000, GID: 1001, Mode: 0o750},
		{Path: "/opt/new/deep/link", Link: "/usr/local/bin/helper", UID: 1000, GID: 1000},
		{Path: "/" + strings.Repeat("long/", 40) + "file", Data: []byte("x"), UID: 1000, Mode: 0o640},
	}}
	o := BuildOptions{CacheDir: t.TempDir(), OnProgress: func(p Progress) { t.Log(p) }}
	tag, err := c.EnsureLayer(deadline(t, patience), foreign, l, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(tag) })
	ct := start(t, c, func(s *Spec) { s.Image, s.User, s.WorkingDir = tag, "1000:1001", "/" }, "sleep", "1000")
	for script, want := range map[string]string{
		"helper":                             "helps",
		"stat -c '%A %u:%g' /home/codespace": "drwx------ 1000:1000",
		"cat /etc/passwd; stat -c %a /etc":   "a:x:1000:1000::/home/codespace:/bin/sh\n755",
		"stat -c '%a %u:%g' /opt/full":       "750 1000:1001",
		"ls /opt/full":                       "file",
		"/opt/new/deep/link":                 "helps",
		"stat -c '%a %u:%g' /opt/new/deep":   "755 0:0",
		"stat -c '%a %u:%g' /long/long/long": "755 0:0",
		"stat -c '%a %u:%g' $(find /long -type f); ls /layer.tar 2>/dev/null || true": "640 1000:0",
	} {
		t.Run(script, func(t *testing.T) {
			if got := inside(t, c, ct.ID(), script); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A layer is made once, whatever the order of its files and however many want it, and anew when it or
// its parent is another.
func TestLayerIsMadeOnce(t *testing.T) {
	c := connect(t)
	parent := testLayer(t, c, homes)
	file := func(text string) Layer {
		return Layer{Files: []LayerFile{{Path: "/b", Data: []byte(text), Mode: 0o444}, {Path: "/a", Dir: true, Mode: 0o755}}}
	}
	var mu sync.Mutex
	builds := 0
	o := BuildOptions{CacheDir: t.TempDir(), OnProgress: func(p Progress) {
		if strings.HasPrefix(p.Detail, "Successfully tagged "+repository) {
			mu.Lock()
			defer mu.Unlock()
			builds++
		}
	}}
	ensure := func(parent string, l Layer) string {
		tag, err := c.EnsureLayer(deadline(t, patience), parent, l, o)
		if err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(tag) })
		return tag
	}
	tags := make([]string, 4)
	var wg sync.WaitGroup
	for i := range tags {
		wg.Go(func() {
			l := file(t.Name())
			if i%2 > 0 {
				slices.Reverse(l.Files)
			}
			tags[i] = ensure(parent, l)
		})
	}
	wg.Wait()
	slices.Sort(tags)
	if tags[0] != tags[3] || builds != 1 {
		t.Errorf("it was made %d times: %q", builds, tags)
	}
	if ensure(parent, file(t.Name())) != tags[0] || builds != 1 {
		t.Error("it is made again")
	}
	if ensure(parent, file("other")) == tags[0] || ensure(tags[0], file(t.Name())) == tags[0] || builds != 3 {
		t.Errorf("another layer or another parent makes no other image: %d builds", builds)
	}
}

func TestLayerErrors(t *testing.T) {
	c := connect(t)
	spec, parent, onBuild := testImage(t, c, "ONBUILD RUN touch /tmp/surprise\n")
	if err := newBuild(t, c, t.TempDir()).ensure(deadline(t, patience), spec, parent, onBuild); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		parent string
		file   LayerFile
		want   error
	}{
		"no parent":           {"ironcurtain/nonesuch:1", LayerFile{Path: "/a"}, ErrNoImage},
		"steps of the parent": {onBuild, LayerFile{Path: "/a"}, ErrLayer},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.EnsureLayer(deadline(t, patience), tt.parent, Layer{Files: []LayerFile{tt.file}}, BuildOptions{CacheDir: t.TempDir()})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLayerIsValidated(t *testing.T) {
	good := LayerFile{Path: "/a", Data: []byte("x"), Mode: 0o644}
	for name, files := range map[string][]LayerFile{
		"relative":             {{Path: "a"}},
		"the root":             {{Path: "/", Dir: true}},
		"upwards":              {{Path: "/a/../../b"}},
		"not in short":         {{Path: "/a/"}},
		"zero byte":            {{Path: "/a\x00b"}},
		"zero byte in a link":  {{Path: "/a", Link: "b\x00"}},
		"twice":                {good, {Path: "/b"}, good},
		"below a file":         {good, {Path: "/a/b/c"}},
		"below a link":         {{Path: "/a", Link: "/etc"}, {Path: "/a/passwd"}},
		"a name that deletes":  {{Path: "/etc/.wh.passwd"}},
		"a directory and data": {{Path: "/a", Dir: true, Data: []byte("x")}},
		"a link and directory": {{Path: "/a", Dir: true, Link: "/b"}},
		"set-uid":              {{Path: "/a", Mode: fs.ModeSetuid | 0o755}},
		"a sticky file":        {{Path: "/a", Mode: fs.ModeSticky | 0o755}},
		"nobody":               {{Path: "/a", UID: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (Layer{Files: files}).archive(); !errors.Is(err, ErrLayer) {
				t.Errorf("got %v", err)
			}
		})
	}
	one, err := Layer{Files: []LayerFile{good, {Path: "/b", Dir: true}, {Path: "/b/c"}}}.archive()
	other, errOther := Layer{Files: []LayerFile{{Path: "/b/c"}, {Path: "/b", Dir: true}, good}}.archive()
	if err != nil || errOther != nil || !bytes.Equal(one, other) {
		t.Errorf("the order of files makes another layer: %v, %v", err, errOther)
	}
}

// Of the layers on an image the newest is current while that image is, or is somebody else's.
func TestLayersInTheListOfImages(t *testing.T) {
	found := []engine.APIImages{
		{ID: "sha256:1", RepoTags: []string{"ironcurtain/shell:new"}},
		{ID: "sha256:2", RepoTags: []string{"ironcurtain/shell:old"}},
		{ID: "sha256:3", RepoTags: []string{"docker.io/foreign:1"}},
		{ID: "sha256:4", RepoTags: []string{"<none>:<none>"}},
	}
	list := []Image{{Name: "shell", Tag: "ironcurtain/shell:new", Current: true}, {Name: "shell", Tag: "ironcurtain/shell:old"}}
	type row struct {
		tag, on string
		created int64
		parent  string
		current bool
	}
	rows := []row{
		{"a", "1", 5, "ironcurtain/shell:new", false},
		{"b", "1", 9, "ironcurtain/shell:new", true},
		{"c", "1", 7, "ironcurtain/shell:new", false},
		{"d", "2", 9, "ironcurtain/shell:old", false},
		{"e", "3", 1, "foreign:1", true},
		{"f", "4", 9, "", false},
		{"g", "gone", 9, "", false},
		{"h", "", 9, "", false},
	}
	for _, r := range rows {
		tag := "ironcurtain/layer:" + r.tag
		found = append(found, engine.APIImages{ID: r.tag, RepoTags: []string{tag}, Labels: map[string]string{LabelParent: r.on}})
		list = append(list, Image{Name: layerImage, Tag: tag, Present: true, CreatedAt: time.Unix(r.created, 0)})
	}
	markLayers(list, found)
	for i, r := range rows {
		t.Run(r.tag, func(t *testing.T) {
			if got := list[i+2]; got.Parent != r.parent || got.Current != r.current {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Layers are listed as other images, and removed before the images that they are on.
func TestLayersAreRemoved(t *testing.T) {
	c, ctx := connect(t), deadline(t, patience)
	spec, parent, below := testImage(t, c, "")
	if err := newBuild(t, c, t.TempDir()).ensure(ctx, spec, parent, below); err != nil {
		t.Fatal(err)
	}
	tag, err := c.EnsureLayer(ctx, below, homes, BuildOptions{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.ListImages(ctx, testRecipe)
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.DeleteFunc(list, func(i Image) bool { return i.Tag != tag && i.Tag != below })
	if len(mine) != 2 || mine[0].Tag != tag || mine[0].State() != "old" || mine[0].Parent != below || mine[0].Name != layerImage {
		t.Fatalf("listed are %+v", mine)
	}
	slices.Reverse(mine)
	removed, err := c.RemoveImages(ctx, mine)
	if err != nil || !slices.Equal(removed, []string{tag, below}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	if left := imagesOf(t, c, spec); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
