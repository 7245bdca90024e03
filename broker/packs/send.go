package packs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// file is one of the two files of a pack.
type file struct {
	name string // in the volume
	path string // on the host
	size int64
}

// slack is by how many bytes packs may exceed twice the limit on the host's disk.
const slack = 64 << 20

// pack makes a pack of what the tips lead to and the volume lacks. It returns the pack's files, the
// index last, because git finds a pack by its index; or none if the volume lacks nothing. It makes
// one pack only, because git stores objects as deltas to others of the same pack: in five packs, the
// objects of git's own repository took more than twice the size.
func (j *job) pack(ctx context.Context) ([]file, error) {
	if err := j.setShallow(j.cut); err != nil {
		return nil, err
	}
	in := strings.NewReader(j.revisions(j.sent()))
	ctx, stop := limitSize(ctx, j.dir, 2*j.plan.Limit+slack)
	defer stop()
	err := j.run(ctx, in, nil, "pack-objects", "--revs", "--non-empty", "--delta-base-offset", "--quiet", filepath.Join(j.made(), "pack"))
	if err != nil {
		return nil, err
	}
	var made []file
	for _, ending := range []string{".pack", ".idx"} {
		found, err := filepath.Glob(filepath.Join(j.made(), "pack-*"+ending))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			info, err := os.Lstat(path)
			if err != nil {
				return nil, err
			}
			made = append(made, file{name: "pack/" + filepath.Base(path), path: path, size: info.Size()})
		}
	}
	return made, nil
}

// limitSize returns a context that ends when the directory has more bytes, and a function that
// releases it. Packs can become larger than was measured: in a hostile repository, objects can be
// small deltas to one that is not packed with them.
func limitSize(ctx context.Context, dir string, most int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			var size int64
			_ = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error { // git may remove files meanwhile
				if e.IsRegular() {
					size += e.Stat.Size
				}
				return nil
			})
			if size > most {
				cancel(&gitrun.Limit{What: fmt.Sprintf("the packs become larger than %d MB", most>>20)})
			}
		}
	}()
	return ctx, func() { cancel(nil); <-done }
}

// send puts files into the volume, except those that it has: their names are digests of their
// content. It returns how many bytes it has sent.
func send(ctx context.Context, p Plan, v Volume, listed map[string]int64, made []file) (int64, error) {
	var sent, passed, all int64
	for _, f := range made {
		all += f.size
	}
	for _, f := range made {
		if size, ok := listed[f.name]; !ok || size != f.size {
			err := put(ctx, v, f, func(n int64) {
				if p.Progress != nil {
					p.Progress(passed+n, all)
				}
			})
			if err != nil {
				return sent, fmt.Errorf("send %s: %w", f.name, err)
			}
			sent += f.size
		}
		passed += f.size
	}
	return sent, nil
}

func put(ctx context.Context, v Volume, f file, tell func(n int64)) error {
	in, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return v.Put(ctx, f.name, &counter{r: in, tell: tell}, f.size, [sha256.Size]byte(sum.Sum(nil)))
}

// counter calls tell with how many bytes were read.
type counter struct {
	r    io.Reader
	n    int64
	tell func(n int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tell(c.n)
	return n, err
}
