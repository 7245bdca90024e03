package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	engine "github.com/fsouza/go-dockerclient"
	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// BuildOptions say how an image is made.
type BuildOptions struct {
	// CacheDir keeps base-<hash>.tar (a root file system) and the agents' programs,
	// because they are expensive to get. It also holds the locks. Required.
	CacheDir string
	// OnProgress is called with every step and every line of output.
	OnProgress func(Progress)
	// Base chooses where the root file system comes from: BaseAuto (a registry
	// and, without one, mmdebstrap), BaseRegistry or BaseMmdebstrap.
	Base BaseChoice
	// Recipe says what the image contains besides the agent.
	Recipe Recipe
}

// BaseChoice says where the root file system of the base image comes from.
type BaseChoice string

// The choices.
const (
	BaseAuto       BaseChoice = ""
	BaseRegistry   BaseChoice = "registry"
	BaseMmdebstrap BaseChoice = "mmdebstrap"
)

// DefaultCacheDir returns the cache directory: the value of IRONCURTAIN_CACHE, else a
// directory below XDG_CACHE_HOME if that is an absolute path, else one below home.
func DefaultCacheDir(getenv func(string) string, home string) string {
	if dir := getenv("IRONCURTAIN_CACHE"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ironcurtain-mux")
	}
	return filepath.Join(home, ".cache", "ironcurtain-mux")
}

// ImageTag returns the tag of the image with this name and recipe, and whether the engine has that
// image.
func (c *Client) ImageTag(ctx context.Context, name string, r Recipe) (tag string, present bool, err error) {
	const op = "look for image"
	line, err := r.chain(name)
	if err != nil {
		return "", false, fault.Wrap(op, err, "")
	}
	all := tags(line, c.info.Architecture)
	tag = all[len(all)-1]
	present, err = c.hasImage(ctx, tag)
	return tag, present, fault.Wrap(op, err, "")
}

// EnsureImage returns the tag of an image that is ready to use. If the engine does not have the image
// with the hash of its present content, EnsureImage builds it, and its missing parents first. When
// several processes want the same image, one builds it and the others wait. When ctx ends or
// anything fails, nothing unfinished stays behind except in the cache of downloads.
func (c *Client) EnsureImage(ctx context.Context, name string, o BuildOptions) (string, error) {
	op := "prepare image " + name
	line, err := o.Recipe.chain(name)
	if err != nil {
		return "", fault.Wrap(op, err, "see 'ironcurtain-mux images ls'")
	}
	all := tags(line, c.info.Architecture)
	tag := all[len(all)-1]
	// The usual case first: the image exists.
	if present, err := c.hasImage(ctx, tag); err != nil || present {
		return tag, fault.Wrap(op, err, "")
	}
	if err := o.makeLocks(); err != nil {
		return "", fault.Wrap(op, err, "set IRONCURTAIN_CACHE to a directory you can write to")
	}
	missing, err := c.missing(ctx, line, all)
	if err != nil {
		return "", fault.Wrap(op, err, "")
	}
	b := &imageBuild{client: c, options: o, report: newReporter(o, countSteps(missing))}
	ahead, stop := context.WithCancel(ctx)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	defer stop()
	fetching.Go(func() { b.fetchAhead(ahead, missing) })
	for i, spec := range line {
		parent := ""
		if i > 0 {
			parent = all[i-1]
		}
		if err := b.ensure(ctx, spec, parent, all[i]); err != nil {
			return "", fault.Wrap(op, err, "'ironcurtain-mux images build "+name+"' builds it again and shows every line")
		}
	}
	return tag, nil
}

// makeLocks makes the directory of the locks that let one process at a time make an image.
func (o BuildOptions) makeLocks() error {
	if o.CacheDir == "" {
		return errors.New("no cache directory is given")
	}
	return os.MkdirAll(filepath.Join(o.CacheDir, "locks"), 0o700)
}

// missing returns the images of a chain that the engine does not have.
func (c *Client) missing(ctx context.Context, line []ImageSpec, all []string) (missing []ImageSpec, err error) {
	for i, spec := range line {
		present, err := c.hasImage(ctx, all[i])
		if err != nil {
			return nil, err
		}
		if !present {
			missing = append(missing, spec)
		}
	}
	return missing, nil
}

// countSteps returns how many steps images need.
func countSteps(missing []ImageSpec) (n int) {
	for _, spec := range missing {
		n += 1 + len(spec.packagesOfNpm())
		if spec.rootfs.suite != "" {
			n++
		}
	}
	return n
}

// hasImage reports whether the engine has an image of that name.
func (c *Client) hasImage(ctx context.Context, tag string) (bool, error) {
	_, err := c.bound(ctx).InspectImage(tag)
	if errors.Is(err, engine.ErrNoSuchImage) {
		return false, nil
	}
	return err == nil, translate(err)
}

// imageBuild is one run of EnsureImage that has to build something.
type imageBuild struct {
	client  *Client
	options BuildOptions
	report  *reporter
}

// ensure builds one image of the chain unless the engine has it. A lock lets only one
// process with the same cache build at a time.
func (b *imageBuild) ensure(ctx context.Context, spec ImageSpec, parent, tag string) error {
	lock := flock.New(filepath.Join(b.options.CacheDir, "locks", "image-"+spec.Name+".lock"))
	defer lock.Close()
	if got, err := lock.TryLock(); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	} else if !got {
		b.report.detail("another process is making image " + spec.Name + "; waiting for it")
		if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("wait for another process that makes image %s: %w", spec.Name, err)
		}
	}
	if present, err := b.client.hasImage(ctx, tag); err != nil || present {
		return err
	}
	offline := spec.rootfs.suite == ""
	if spec.rootfs.suite != "" {
		var err error
		if parent, offline, err = b.rootfs(ctx, spec); err != nil {
			return err
		}
	}
	files, err := b.fetchAll(ctx, spec)
	if err != nil {
		return err
	}
	if err := b.findPrograms(spec, files); err != nil {
		return err
	}
	b.report.step(spec.Name, "build image "+spec.Name)
	err = b.build(ctx, spec, parent, tag, files, offline)
	if err != nil && spec.rootfs.other && ctx.Err() == nil {
		// A base that has all packages needs no network, and some engines have none.
		b.report.detail("the build failed; it is tried again without a network")
		b.report.step(spec.Name, "build image "+spec.Name+" without a network")
		if b.build(ctx, spec, parent, tag, files, true) == nil {
			return nil
		}
		return fault.Wrap("build on "+spec.rootfs.image, err,
			"use an image of Debian or Ubuntu; if builds reach no mirror, it must have these packages: "+strings.Join(spec.packages(), " "))
	}
	if err == nil || offline || spec.rootfs.other || b.options.Base != BaseAuto || ctx.Err() != nil {
		return err
	}
	// The image came from its registry, but its packages cannot be downloaded.
	b.report.step(spec.Name, "make the root file system on this machine")
	b.report.detail("the packages cannot be installed (" + err.Error() + "); mmdebstrap makes the root file system here")
	parent, merr := b.makeRootfs(ctx, spec)
	if merr != nil {
		return fmt.Errorf("%w; and %w", err, merr)
	}
	b.report.step(spec.Name, "build image "+spec.Name)
	return b.build(ctx, spec, parent, tag, files, true)
}

// FetchImage makes sure that the engine has an image that this program does not build,
// and pulls it from its registry if not. The image is used unchanged.
func (c *Client) FetchImage(ctx context.Context, reference string, o BuildOptions) error {
	b := &imageBuild{client: c, options: o, report: newReporter(o, 1)}
	b.report.step(reference, "get image "+reference)
	err := b.pull(ctx, reference)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return fault.Wrap("get image "+reference, err, "build or load the image, then try again")
	}
	return fault.Wrap("get image "+reference, err, "")
}
