package docker

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// maxAgentProgram bounds one file taken out of a package, in bytes.
const maxAgentProgram = 2 << 30

// fetch returns the path of a file of an npm package in the cache, and gets it
// with npm when it is not there. npm takes the registry from the machine's own
// configuration and verifies what comes from it; no script of the package is
// run.
func (b *imageBuild) fetch(ctx context.Context, spec ImageSpec, f npmFile) (string, error) {
	arch, err := npmArchitecture(b.client.info.Architecture)
	if err != nil {
		return "", err
	}
	b.report.step(spec.Name, "get "+f.name+" "+spec.Version)
	cached := filepath.Join(b.options.CacheDir, f.name+"-"+spec.Version+"-"+arch)
	if info, err := os.Stat(cached); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		b.report.detail("from the cache: " + filepath.Base(cached))
		return cached, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", &Error{Op: "get " + f.name, Err: errors.New("npm is not installed"), hint: "install npm"}
	}
	work, err := os.MkdirTemp(b.options.CacheDir, "npm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	pkg := strings.ReplaceAll(f.pkg, "{arch}", arch)
	b.report.detail("npm pack " + pkg)
	cmd := exec.CommandContext(ctx, npm, "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", work, pkg)
	cmd.Dir = work
	if err := runBuilder(ctx, cmd, b.report.detail); err != nil {
		return "", fmt.Errorf("get %s: %w", pkg, err)
	}
	archives, err := filepath.Glob(filepath.Join(work, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("get %s: npm left %d archives, one was expected", pkg, len(archives))
	}
	b.report.detail("unpacking " + filepath.Base(archives[0]))
	fresh := filepath.Join(work, "program")
	if err := extractFile(ctx, archives[0], f.path, fresh); err != nil {
		return "", fmt.Errorf("unpack %s: %w", pkg, err)
	}
	return cached, os.Rename(fresh, cached)
}

// npmArchitecture is npm's name of an engine's architecture.
func npmArchitecture(engineArch string) (string, error) {
	switch engineArch {
	case "x86_64", "amd64":
		return "x64", nil
	case "aarch64", "arm64":
		return "arm64", nil
	}
	return "", fmt.Errorf("there is no agent program for the architecture %q", engineArch)
}

// extractFile copies one regular file out of a gzipped tar archive.
func extractFile(ctx context.Context, archive, name, target string) error {
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
		if err == io.EOF {
			return fmt.Errorf("it holds no file %s", name)
		}
		if err != nil {
			return err
		}
		if path.Clean(h.Name) != name || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > maxAgentProgram {
			return fmt.Errorf("%s is larger than %d bytes", name, maxAgentProgram)
		}
		return writeProgram(ctx, target, tr)
	}
}

func writeProgram(ctx context.Context, target string, from io.Reader) error {
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // a program that every user of the image runs
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &contextReader{ctx, from})
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// contextReader ends a long copy when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
