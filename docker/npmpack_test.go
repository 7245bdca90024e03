package docker

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNpm puts an npm before all others on the PATH, which packs a package with one program, and
// returns how often it was run.
func fakeNpm(t *testing.T) (ran func() int) {
	t.Helper()
	dir := t.TempDir()
	var archive bytes.Buffer
	gz := gzip.NewWriter(&archive)
	tw := tar.NewWriter(gz)
	err := tw.WriteHeader(&tar.Header{Name: "package/bin/program", Typeflag: tar.TypeReg, Mode: 0o755, Size: 4})
	if err == nil {
		_, err = tw.Write([]byte("text"))
	}
	if err != nil || tw.Close() != nil || gz.Close() != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho run >>" + log + "\ncp " + filepath.Join(dir, "it.tgz") + " .\n"
	for name, data := range map[string][]byte{"it.tgz": archive.Bytes(), "npm": []byte(script)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "run")
	}
}

// What is fetched ahead is there when it is needed, also when somebody needs it meanwhile: each
// package is fetched once.
func TestProgramsAreFetchedAheadOnce(t *testing.T) {
	ran := fakeNpm(t)
	o := BuildOptions{CacheDir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(o.CacheDir, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := &imageBuild{client: &Client{info: Info{Architecture: "x86_64"}}, options: o, report: newReporter(o, 1)}
	spec := ImageSpec{Name: "it", npm: []npmFile{{"program", "it@1.0.0", "package/bin/program"}}}
	ahead := make(chan struct{})
	go func() {
		defer close(ahead)
		b.fetchAhead(t.Context(), []ImageSpec{spec})
	}()
	paths, err := b.fetchAll(t.Context(), spec)
	<-ahead
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(paths["program"]); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if n := ran(); n != 1 {
		t.Errorf("npm ran %d times", n)
	}
}

// What cannot be fetched ahead fails only when it is needed.
func TestFetchingAheadMayFail(t *testing.T) {
	fakeNpm(t)
	o := BuildOptions{CacheDir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(o.CacheDir, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := &imageBuild{client: &Client{info: Info{Architecture: "x86_64"}}, options: o, report: newReporter(o, 1)}
	spec := ImageSpec{Name: "it", npm: []npmFile{{"program", "it@1.0.0", "package/not/there"}}}
	b.fetchAhead(t.Context(), []ImageSpec{spec})
	if _, err := b.fetchAll(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "the package has no file package/not/there") {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.CacheDir, "*")); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
