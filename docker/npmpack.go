package docker

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxAgentProgram bounds one file taken out of a package, in bytes.
const maxAgentProgram = 2 << 30

// fetchAll gets the npm files that an image needs and returns their paths in the
// cache, by their names in the build context. It fetches a package once for all its
// files, and only when a file is missing.
func (b *imageBuild) fetchAll(ctx context.Context, spec ImageSpec) (map[string]string, error) {
	paths := make(map[string]string, len(spec.npm))
	for _, group := range spec.packagesOfNpm() {
		found, err := b.fetch(ctx, spec, group)
		if err != nil {
			return nil, err
		}
		maps.Copy(paths, found)
	}
	return paths, nil
}

// packagesOfNpm groups the files by the package they are taken from.
func (s ImageSpec) packagesOfNpm() [][]npmFile {
	var groups [][]npmFile
	for _, f := range s.npm {
		if n := len(groups); n > 0 && groups[n-1][0].pkg == f.pkg {
			groups[n-1] = append(groups[n-1], f)
			continue
		}
		groups = append(groups, []npmFile{f})
	}
	return groups
}

// fetch returns the cached paths of files of one npm package. When a file is missing,
// it gets the package with npm, which takes the registry from the machine's own
// configuration and verifies the download. No script of the package is run.
func (b *imageBuild) fetch(ctx context.Context, spec ImageSpec, files []npmFile) (map[string]string, error) {
	pkg, paths, err := b.cached(files)
	if err != nil {
		return nil, err
	}
	b.report.step(spec.Name, "get "+pkg)
	return paths, b.get(ctx, pkg, files, paths, b.report.detail)
}

// fetchAhead gets the npm files of images that will be built, while other work goes on. It ignores
// errors: fetch tries again, and reports them.
func (b *imageBuild) fetchAhead(ctx context.Context, missing []ImageSpec) {
	for _, spec := range missing {
		for _, files := range spec.packagesOfNpm() {
			if pkg, paths, err := b.cached(files); err == nil {
				_ = b.get(ctx, pkg, files, paths, func(string) {})
			}
		}
	}
}

// cached returns the package that files are taken from, and their paths in the cache.
func (b *imageBuild) cached(files []npmFile) (pkg string, paths map[string]string, err error) {
	arch, _, err := npmArchitecture(b.client.info.Architecture)
	if err != nil {
		return "", nil, err
	}
	pkg = strings.ReplaceAll(files[0].pkg, "{arch}", arch)
	version := pkg[strings.LastIndex(pkg, "@")+1:]
	paths = map[string]string{}
	for _, f := range files {
		paths[f.name] = filepath.Join(b.options.CacheDir, f.name+"-"+version+"-"+arch)
	}
	return pkg, paths, nil
}

// get puts the files of a package at their paths, unless they exist. When several processes want
// them, one gets them and the others wait.
func (b *imageBuild) get(ctx context.Context, pkg string, files []npmFile, paths map[string]string, say func(string)) error {
	lock := flock.New(filepath.Join(b.options.CacheDir, "locks", "npm-"+files[0].name+".lock"))
	defer lock.Close()
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another process that gets %s: %w", pkg, err)
	}
	missing := slices.ContainsFunc(files, func(f npmFile) bool {
		info, err := os.Stat(paths[f.name])
		return err != nil || !info.Mode().IsRegular() || info.Size() == 0
	})
	if !missing {
		say("from the cache")
		return nil
	}
	_, machine, err := npmArchitecture(b.client.info.Architecture)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.options.CacheDir, "npm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	archive, err := npmPack(ctx, work, pkg, say)
	if err != nil {
		return err
	}
	say("unpacking " + filepath.Base(archive))
	for i, f := range files {
		fresh := filepath.Join(work, fmt.Sprintf("file-%d", i))
		extract := extractFile
		if strings.HasSuffix(f.path, "/") {
			extract = extractDirectory
		}
		if err := extract(ctx, archive, strings.ReplaceAll(f.path, "{machine}", machine), fresh); err != nil {
			return fmt.Errorf("unpack %s: %w", pkg, err)
		}
		if err := os.Rename(fresh, paths[f.name]); err != nil {
			return err
		}
	}
	return nil
}

// npmPack fetches a package into the directory work and returns its archive.
func npmPack(ctx context.Context, work, pkg string, say func(string)) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", &fault.Error{Op: "get " + pkg, Err: errors.New("npm is not installed"), Next: "install npm"}
	}
	say("npm pack " + pkg)
	cmd := exec.CommandContext(ctx, npm, "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", work, pkg)
	cmd.Dir = work
	if err := runBuilder(ctx, cmd, say); err != nil {
		return "", fmt.Errorf("get %s: %w", pkg, err)
	}
	archives, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("get %s: npm left %d archives, one was expected", pkg, len(archives))
	}
	return archives[0], nil
}

// npmArchitecture returns the names that npm and compilers use for an engine's
// architecture.
func npmArchitecture(engineArch string) (arch, machine string, err error) {
	switch engineArch {
	case "x86_64":
		return "x64", "x86_64", nil
	case "aarch64":
		return "arm64", "aarch64", nil
	}
	return "", "", fmt.Errorf("there is no agent program for the architecture %q", engineArch)
}

// extractFile copies one regular file out of a gzipped tar archive.
func extractFile(ctx context.Context, archive, name, target string) error {
	found := false
	err := eachFile(archive, func(h *tar.Header, content io.Reader) (more bool, err error) {
		if path.Clean(h.Name) != name {
			return true, nil
		}
		found = true
		return false, writeProgram(ctx, target, content)
	})
	if err == nil && !found {
		err = fmt.Errorf("the package has no file %s", name)
	}
	return err
}

// extractDirectory copies the regular files below a directory of a gzipped tar archive
// into a new tar archive. It keeps only their paths below the directory and their
// execute permissions.
func extractDirectory(ctx context.Context, archive, dir, target string) error {
	pr, pw := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		err := writeProgram(ctx, target, pr)
		pr.CloseWithError(err)
		copied <- err
	}()
	tw, found := tar.NewWriter(pw), false
	err := eachFile(archive, func(h *tar.Header, content io.Reader) (more bool, err error) {
		name, below := strings.CutPrefix(path.Clean(h.Name), dir)
		if !below || !filepath.IsLocal(name) {
			return true, nil
		}
		found = true
		err = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644 | h.Mode&0o111, Size: h.Size})
		if err == nil {
			_, err = io.Copy(tw, content)
		}
		return true, err
	})
	if err == nil && !found {
		err = fmt.Errorf("the package has no directory %s", dir)
	}
	if err == nil {
		err = tw.Close()
	}
	pw.CloseWithError(err)
	return errors.Join(err, <-copied)
}

// eachFile calls visit for each regular file of a gzipped tar archive, until visit
// returns false or an error.
func eachFile(archive string, visit func(*tar.Header, io.Reader) (more bool, err error)) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	gz, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	tr := tar.NewReader(gz)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > maxAgentProgram {
			return fmt.Errorf("%s is larger than %d bytes", path.Clean(h.Name), maxAgentProgram)
		}
		if more, err := visit(h, tr); err != nil || !more {
			return err
		}
	}
}

func writeProgram(ctx context.Context, target string, from io.Reader) error {
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // a program that every user of the image runs
	if err != nil {
		return err
	}
	_, err = io.Copy(out, bounded.Reader(ctx, from))
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
