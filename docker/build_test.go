package docker

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// testImage is an image of the test's own, with the shell image below it.
func testImage(t *testing.T, c *Client, steps string) (spec ImageSpec, parent, tag string) {
	t.Helper()
	parent = image(t, c, "shell")
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), labelCount.Add(1))
	spec = ImageSpec{Name: name, Parent: "shell", files: map[string][]byte{
		"Dockerfile": []byte("ARG PARENT\nFROM ${PARENT}\nENV UNIQUE=" + name + "\n" + steps),
	}}
	tag = repository + name + ":1"
	t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(tag) })
	return spec, parent, tag
}

// imagesOf returns the images that were made for a spec of testImage's, including
// untagged layers. Other tests may make images at the same time; while another image goes,
// Podman fails to list any.
func imagesOf(t *testing.T, c *Client, spec ImageSpec) (images []string) {
	t.Helper()
	bound := c.bound(deadline(t, patience))
	var list []engine.APIImages
	eventually(t, patience, "the images are listed", func() (listed bool) {
		var err error
		list, err = bound.ListImages(engine.ListImagesOptions{All: true})
		return err == nil
	})
	for _, i := range list {
		found, err := bound.InspectImage(i.ID)
		if err == nil && slices.Contains(found.Config.Env, "UNIQUE="+spec.Name) {
			images = append(images, i.ID)
		}
	}
	return images
}

func newBuild(t *testing.T, c *Client, cache string) *imageBuild {
	t.Helper()
	o := BuildOptions{CacheDir: cache, OnProgress: func(p Progress) { t.Log(p) }}
	if err := os.MkdirAll(filepath.Join(cache, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &imageBuild{client: c, options: o, report: newReporter(o, 1)}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	c := connect(t)
	spec, parent, tag := testImage(t, c, "USER 0\nRUN echo one > /one\nRUN echo the cause >&2; exit 9\n")
	b, made := newBuild(t, c, t.TempDir()), 0
	b.options.OnProgress = func(Progress) { made = max(made, len(imagesOf(t, c, spec))) }
	b.report = newReporter(b.options, 1)
	err := b.ensure(deadline(t, patience), spec, parent, tag)
	if err == nil || !strings.Contains(err.Error(), "9") {
		t.Fatalf("got %v", err)
	}
	if made == 0 {
		t.Error("no step made an image")
	}
	if left := imagesOf(t, c, spec); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if there, err := c.hasImage(deadline(t, patience), parent); err != nil || !there {
		t.Errorf("the parent image is gone: %v", err)
	}
}

func TestCancelledBuild(t *testing.T) {
	c := connect(t)
	spec, parent, tag := testImage(t, c, "RUN echo started; sleep 1000\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := newBuild(t, c, t.TempDir())
	b.options.OnProgress = func(p Progress) {
		if strings.Contains(p.Detail, "started") {
			cancel()
		}
	}
	b.report = newReporter(b.options, 1)
	began := time.Now()
	err := b.ensure(ctx, spec, parent, tag)
	if !errors.Is(err, context.Canceled) || time.Since(began) > patience {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
	if there, err := c.hasImage(deadline(t, patience), tag); err != nil || there {
		t.Errorf("there is an image: %v %v", there, err)
	}
	eventually(t, patience, "the builder's container ends", func() bool {
		list, err := c.bound(deadline(t, patience)).ListContainers(engine.ListContainersOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if strings.Contains(l.Command, "echo started") {
				return false
			}
		}
		return true
	})
}

// When several callers want an image, one builds it and the others wait.
func TestOneBuildAtATime(t *testing.T) {
	c := connect(t)
	spec, parent, tag := testImage(t, c, "RUN sleep 0.5\n")
	cache := t.TempDir()
	var mu sync.Mutex
	builds := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			b := newBuild(t, c, cache)
			b.options.OnProgress = func(p Progress) {
				if strings.HasPrefix(p.Detail, "Successfully tagged "+repository) {
					mu.Lock()
					builds++
					mu.Unlock()
				}
			}
			b.report = newReporter(b.options, 1)
			if err := b.ensure(deadline(t, patience), spec, parent, tag); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if builds != 1 {
		t.Errorf("it was built %d times", builds)
	}
}

func TestEnsureImageErrors(t *testing.T) {
	c := connect(t)
	if _, err := c.EnsureImage(deadline(t, patience), "nonesuch", BuildOptions{}); !errors.Is(err, ErrUnknownImage) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.EnsureImage(ctx, "shell", BuildOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestImages(t *testing.T) {
	for _, want := range []string{"base", "claude-code", "shell"} {
		t.Run(want, func(t *testing.T) {
			line, err := chain(Images(), want)
			if err != nil {
				t.Fatal(err)
			}
			if line[0].Parent != "" || line[len(line)-1].Name != want {
				t.Errorf("chain of %s: %v", want, line)
			}
			one, other := tags(line, "x86_64"), tags(line, "aarch64")
			if one[0] == other[0] {
				t.Error("the tag does not depend on the architecture")
			}
			changed := append([]ImageSpec{}, line...)
			changed[0].files = map[string][]byte{"Dockerfile": []byte("other")}
			if again := tags(changed, "x86_64"); again[len(again)-1] == one[len(one)-1] {
				t.Errorf("the tag of %s does not depend on its root", want)
			}
		})
	}
}

func TestReadImagesRefuses(t *testing.T) {
	for name, dockerfile := range map[string]string{
		"no parent":       "FROM ${PARENT}\n",
		"two parents":     "#ironcurtain:parent a\n#ironcurtain:rootfs b c\nFROM ${PARENT}\n",
		"a fixed base":    "#ironcurtain:parent a\nFROM debian\n",
		"unknown comment": "#ironcurtain:parrot a\nFROM ${PARENT}\n",
		"unknown version": "#ironcurtain:parent a\n#ironcurtain:version NONE\nFROM ${PARENT}\n",
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"images/x/Dockerfile": {Data: []byte(dockerfile)}}
			if _, err := readImages(tree); err == nil {
				t.Errorf("%s: accepted", name)
			}
		})
	}
	loop := []ImageSpec{{Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}}
	if _, err := chain(loop, "a"); err == nil {
		t.Error("a circle is accepted")
	}
}

func TestDefaultCacheDir(t *testing.T) {
	for _, tt := range []struct{ own, xdg, want string }{
		{"/own", "/xdg", "/own"},
		{"", "/xdg", "/xdg/ironcurtain-mux"},
		{"", "relative", "/h/.cache/ironcurtain-mux"},
		{"", "", "/h/.cache/ironcurtain-mux"},
	} {
		t.Run(tt.own, func(t *testing.T) {
			env := map[string]string{"IRONCURTAIN_CACHE": tt.own, "XDG_CACHE_HOME": tt.xdg}
			if got := DefaultCacheDir(func(k string) string { return env[k] }, "/h"); got != tt.want {
				t.Errorf("%+v: %s", tt, got)
			}
		})
	}
}

func TestAptSources(t *testing.T) {
	named := func(entry string) string { return entry }
	lines := strings.Join([]string{
		"http://a/debian/\tbookworm\tbookworm\tDebian\tmain\t$(SOURCESENTRY)",
		"http://a/debian/\tbookworm\tbookworm\tDebian\tcontrib\t$(SOURCESENTRY)",
		"http://a/debian/\tstable-updates\tbookworm-updates\tDebian\tmain\t/usr/share/keyrings/k.gpg",
		"http://s/\tbookworm-security\tbookworm-security\tDebian\tmain\t",
		"http://a/debian/\tbookworm-backports\tbookworm-backports\tDebian\tmain\t",
		"http://other/apt/\tbookworm\tbookworm\tSomebody\tmain\t",
		"http://t/debian/\ttrixie\ttrixie\tDebian\tmain\t",
		"broken line",
	}, "\n")
	got := strings.Join(aptSettings{targets: parseTargets(lines, named)}.sources("bookworm"), "\n")
	want := strings.Join([]string{
		"deb http://a/debian/ bookworm main",
		"deb [signed-by=/usr/share/keyrings/k.gpg] http://a/debian/ bookworm-updates main",
		"deb http://s/ bookworm-security main",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (aptSettings{targets: parseTargets(lines, named)}).sources("trixie"); !slices.Equal(got, []string{"deb http://t/debian/ trixie main"}) {
		t.Errorf("with mirrors of two suites: %q", got)
	}
	bookworm, _, _ := strings.Cut(lines, "http://t/")
	if got := (aptSettings{targets: parseTargets(bookworm, named)}).sources("trixie"); strings.Join(got, "\n") != strings.ReplaceAll(want, "bookworm", "trixie") {
		t.Errorf("with mirrors of another suite: %q", got)
	}
	onlyUpdates := parseTargets("http://a/\tbookworm-updates\tbookworm-updates\tDebian\tmain\t", named)
	if got := (aptSettings{targets: onlyUpdates}).sources("bookworm"); got != nil {
		t.Errorf("without the suite itself: %q", got)
	}
}

// The keyrings of a repository stand in the entry that apt names.
func TestSignedBy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.list": "# deb [signed-by=/no] http://a/ x main\ndeb [arch=amd64 signed-by=/k/a.gpg,/k/b.asc] http://a/ x main\ndeb http://b/ x main # [\n",
		"a.sources": "# a comment\n\nTypes: deb\n# Signed-By: /no\nSigned-By: /k/a.gpg\nURIs: http://a/\n\n \nTypes: deb\nsigned-by:\n /k/b.asc\n\t/k/c.gpg\n" +
			"Suites: x\n /not\n\nSigned-By: A9B8C7\n\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n /9j\n\nTypes: deb\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for entry, want := range map[string]string{
		"a.list:2": "/k/a.gpg,/k/b.asc", "a.list:3": "", "a.list:0": "", "a.list:9": "", "a.list": "", "b.list:1": "",
		"a.sources:1": "/k/a.gpg", "a.sources:2": "/k/b.asc,/k/c.gpg", "a.sources:3": "", "a.sources:4": "", "a.sources:5": "", "a.sources:6": "",
	} {
		t.Run(entry, func(t *testing.T) {
			if got := signedBy(filepath.Join(dir, entry)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestAcquireOptions(t *testing.T) {
	dump := "APT::Architecture \"amd64\";\nAcquire::http::Proxy \"http://u:p@h:1\";\nAcquire::http \"\";\n" +
		"Acquire::Check-Valid-Until \"false\";\nAcquire::Languages:: \"none\";\nDpkg::Pre-Invoke:: \"evil\";\n"
	got := strings.Join(acquireOptions(dump), "|")
	if want := `Acquire::http::Proxy "http://u:p@h:1";|Acquire::Check-Valid-Until "false";`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestExtractFile(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.tgz")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	gz := gzip.NewWriter(f)
	tw := tar.NewWriter(gz)
	for _, h := range []tar.Header{
		{Name: "package/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "./package/agent", Typeflag: tar.TypeReg, Size: 5, Mode: 0o4755},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := tw.Write([]byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), gz.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := extractFile(t.Context(), archive, "package/agent", out); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(out); err != nil || info.Size() != 5 || info.Mode() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
	if err := extractFile(t.Context(), archive, "package/link", out+"2"); err == nil {
		t.Error("a link is extracted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := extractFile(ctx, archive, "package/agent", out+"3"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// A directory of a package becomes an archive of its regular files, under
// their paths below it.
func TestExtractDirectory(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.tgz")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	gz := gzip.NewWriter(f)
	tw := tar.NewWriter(gz)
	for _, h := range []tar.Header{
		{Name: "package/bundle/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "package/bundle/a.js", Typeflag: tar.TypeReg, Size: 1, Mode: 0o4644},
		{Name: "./package/bundle/deep/run", Typeflag: tar.TypeReg, Size: 2, Mode: 0o777},
		{Name: "package/bundle/../../escape", Typeflag: tar.TypeReg, Size: 1, Mode: 0o644},
		{Name: "package/bundles/not", Typeflag: tar.TypeReg, Size: 1, Mode: 0o644},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte("xy")[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.tar")
	if err := extractDirectory(t.Context(), archive, "package/bundle/", out); err != nil {
		t.Fatal(err)
	}
	made, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	var got []string
	for tr := tar.NewReader(made); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d", h.Name, h.Mode, h.Size))
	}
	if want := []string{"a.js 644 1", "deep/run 755 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := extractDirectory(t.Context(), archive, "package/nothing/", out+"2"); err == nil {
		t.Error("a directory that is not there is extracted")
	}
}

// Recipes that differ in their content make other images, and no others do. A base of the
// person's own comes only from a registry.
func TestRecipes(t *testing.T) {
	tagOf := func(r Recipe) string {
		t.Helper()
		line, err := r.chain("shell")
		if err != nil {
			t.Fatal(err)
		}
		all := tags(line, "x86_64")
		return all[len(all)-1]
	}
	before := tagOf(Recipe{})
	if tagOf(Recipe{Base: "debian:trixie-slim"}) != before {
		t.Error("the Dockerfile's own base makes another image")
	}
	if tagOf(Recipe{Toolchains: []string{"python", "go"}}) != tagOf(Recipe{Toolchains: []string{"go", "python", "go"}}) {
		t.Error("the order of toolchains makes another image")
	}
	different := []Recipe{
		{},
		{Base: "mcr.example/universal:latest"},
		{Toolchains: []string{"go"}},
		{Toolchains: []string{"node"}},
		{Toolchains: []string{"go", "node"}},
		{Packages: []string{"gh"}},
	}
	for i, r := range different {
		for _, other := range different[:i] {
			if tagOf(r) == tagOf(other) {
				t.Errorf("%+v and %+v make the same image", r, other)
			}
		}
	}
	line, err := Recipe{Base: "mcr.example/universal:latest", Toolchains: []string{"node", "rust"}, Packages: []string{"gh"}}.chain("shell")
	if err != nil {
		t.Fatal(err)
	}
	if len(line) != 3 || line[0].rootfs.image != "mcr.example/universal:latest" || line[1].Name != "node" {
		t.Errorf("the images are %+v", line)
	}
	if got := line[0].packages(); !slices.Contains(got, "git") || !slices.Contains(got, "cargo") || !slices.Contains(got, "gh") {
		t.Errorf("the packages are %q", got)
	}
	for _, bad := range []Recipe{{Toolchains: []string{"cobol"}}, {Packages: []string{"-o=x"}}, {Packages: []string{"a b"}}} {
		if _, err := bad.chain("shell"); !errors.Is(err, ErrRecipe) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A base of the person's own that has all packages is used whether builds have a network
// or not. If the base cannot be pulled, the error says what to do.
func TestBuildOnChosenBase(t *testing.T) {
	own := image(t, connect(t), "base")
	c := connect(t)
	name := fmt.Sprintf("test-base-%d", os.Getpid())
	if err := c.bound(deadline(t, patience)).TagImage(own, engine.TagImageOptions{Repo: name, Tag: "1"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(name + ":1") })
	tag, err := c.EnsureImage(deadline(t, patience), "base", BuildOptions{
		CacheDir: t.TempDir(), Recipe: Recipe{Base: name + ":1", Toolchains: testRecipe.Toolchains}, OnProgress: func(p Progress) { t.Log(p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.bound(deadline(t, patience)).RemoveImage(tag) })
	if tag == own {
		t.Error("it is not another image")
	}
	_, err = c.EnsureImage(deadline(t, patience), "base", BuildOptions{CacheDir: t.TempDir(), Recipe: Recipe{Base: "registry.invalid/none:1"}})
	var e *fault.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "pull registry.invalid/none:1") || !strings.Contains(e.Hint(), "images.base") {
		t.Errorf("got %v", err)
	}
}

// The error of an image that needs a program of this machine names the missing program.
func TestProgramsOfThisMachine(t *testing.T) {
	s := ImageSpec{Name: "x", Version: "1", programs: []string{"sh", "no-such-program-here"}}
	if missing := s.Lacks(); !slices.Equal(missing, []string{"no-such-program-here"}) {
		t.Errorf("missing: %q", missing)
	}
	b := &imageBuild{report: newReporter(BuildOptions{}, 1)}
	found := map[string]string{}
	if err := b.findPrograms(s, found); err == nil || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("got %v", err)
	}
	s.programs = []string{"sh"}
	if err := b.findPrograms(s, found); err != nil || !filepath.IsAbs(found["sh"]) {
		t.Errorf("got %v, %q", err, found)
	}
}

// Making a root file system mounts file systems; when it is interrupted, it must clean
// them up.
func TestBootstrapCancelled(t *testing.T) {
	c := connect(t)
	cache, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := newBuild(t, c, cache)
	b.options.OnProgress = func(p Progress) {
		if strings.Contains(p.Detail, "as tempdir") {
			cancel()
		}
	}
	b.report = newReporter(b.options, 1)
	line, err := chain(Images(), "base")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.bootstrap(ctx, line[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(cache, "base-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left)+len(archives) > 0 {
		t.Errorf("left behind: %q", append(left, archives...))
	}
}

func TestRunBuilder(t *testing.T) {
	program := func(ctx context.Context, script string) error {
		return runBuilder(ctx, shell(ctx, script), func(string) {})
	}
	err := program(t.Context(), `echo fine; printf 'E: no\033[31m mirror\nbye\n' >&2; exit 3`)
	if err == nil || !strings.Contains(err.Error(), "E: no") || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("got %q", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	// The child holds the output open; it must be ended too.
	if err := program(ctx, "sleep 1000 & wait"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > patience {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
}
