package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// How long to wait for a registry: for its first message, and between two messages.
const (
	pullFirst = 8 * time.Second
	pullIdle  = 60 * time.Second
)

// rootfs makes sure that the engine has the image below all others. It returns the image's name, and
// offline: the build needs no network, because the packages are installed already. It first asks a
// registry, for a short time. If none answers, mmdebstrap makes the file system on this machine,
// from the mirror of the machine's own apt.
func (b *imageBuild) rootfs(ctx context.Context, spec ImageSpec) (name string, offline bool, err error) {
	b.report.step(spec.Name, "get the root file system")
	if spec.rootfs.other {
		if err := b.pull(ctx, spec.rootfs.image); err != nil {
			return "", false, fault.Wrap("pull "+spec.rootfs.image, err, "load that image into the engine, or choose another images.base in config.json")
		}
		return spec.rootfs.image, false, nil
	}
	made := b.rootfsTag(spec)
	if present, err := b.client.hasImage(ctx, made); err != nil {
		return "", false, err
	} else if present && b.options.Base != BaseRegistry {
		b.report.detail("made by mmdebstrap earlier")
		return made, true, nil
	}
	var pullErr error
	if b.options.Base != BaseMmdebstrap {
		if pullErr = b.pull(ctx, spec.rootfs.image); pullErr == nil {
			return spec.rootfs.image, false, nil
		}
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		if b.options.Base == BaseRegistry {
			return "", false, fmt.Errorf("pull %s: %w", spec.rootfs.image, pullErr)
		}
		b.report.detail("no registry (" + pullErr.Error() + "); mmdebstrap makes it here")
	}
	made, err = b.makeRootfs(ctx, spec)
	if err != nil && pullErr != nil {
		err = fmt.Errorf("%w; and %s cannot be pulled: %w", err, spec.rootfs.image, pullErr)
	}
	return made, true, err
}

// makeRootfs makes the root file system on this machine and gives it to the
// engine.
func (b *imageBuild) makeRootfs(ctx context.Context, spec ImageSpec) (string, error) {
	archive, err := b.bootstrap(ctx, spec)
	if err != nil {
		return "", err
	}
	name := b.rootfsTag(spec)
	return name, b.importRootfs(ctx, archive, name)
}

func (b *imageBuild) rootfsTag(spec ImageSpec) string {
	return repository + rootfsName + ":" + rootfsHash(spec, b.client.info.Architecture)
}

// rootfsHash identifies a root file system by its suite, architecture and packages.
func rootfsHash(spec ImageSpec, architecture string) string {
	h := sha256.New()
	fmt.Fprintf(h, "2\n%s\n%s\n%s\n", spec.rootfs.suite, architecture, strings.Join(spec.packages(), " "))
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// pull gets an image from its registry unless the engine has it.
func (b *imageBuild) pull(ctx context.Context, name string) error {
	if present, err := b.client.hasImage(ctx, name); err != nil || present {
		if present {
			b.report.detail("the engine has " + name)
		}
		return err
	}
	b.report.detail("asking the registry for " + name)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(pullFirst, func() { cancel(errors.New("the registry does not answer")) })
	defer quiet.Stop()
	out := &buildOutput{report: b.report, seen: func() { quiet.Reset(pullIdle) }}
	repo, tag := engine.ParseRepositoryTag(name)
	if tag == "" && !strings.Contains(name, "@") {
		tag = "latest"
	}
	err := b.client.bound(ctx).PullImage(engine.PullImageOptions{
		Context: ctx, Repository: repo, Tag: tag, OutputStream: out, RawJSONStream: true,
	}, engine.AuthConfiguration{})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case out.failure != "":
		return errors.New(out.failure)
	}
	return translate(err)
}

// importRootfs turns an archive into an image.
func (b *imageBuild) importRootfs(ctx context.Context, archive, name string) error {
	b.report.detail("importing " + filepath.Base(archive))
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	out := &buildOutput{report: b.report}
	err = b.client.bound(ctx).ImportImage(engine.ImportImageOptions{
		Context: ctx, Repository: name, Source: "-", // name includes the tag: Podman ignores a separate one
		InputStream: f, OutputStream: out, RawJSONStream: true,
	})
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.failure != "":
		err = errors.New(out.failure)
	}
	if err != nil {
		return fmt.Errorf("import the root file system: %w", translate(err))
	}
	return nil
}

// bootstrap returns the archive of a root file system, made now unless the
// cache has it.
func (b *imageBuild) bootstrap(ctx context.Context, spec ImageSpec) (string, error) {
	archive := filepath.Join(b.options.CacheDir, "base-"+rootfsHash(spec, b.client.info.Architecture)+".tar")
	if info, err := os.Stat(archive); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		b.report.detail("from the cache: " + filepath.Base(archive))
		return archive, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	work, err := os.MkdirTemp(b.options.CacheDir, "base-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	fresh := filepath.Join(work, "base.tar")
	if err := mmdebstrap(ctx, spec, work, fresh, b.report.detail); err != nil {
		return "", err
	}
	if err := syncFile(fresh); err != nil {
		return "", err
	}
	return archive, os.Rename(fresh, archive)
}

// syncFile writes a file's data to the disk, so that a power failure after the renaming
// that follows cannot leave an empty file.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
