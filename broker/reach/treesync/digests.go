package treesync

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// identity is a file's device and inode; stamp changes with its content or metadata. Times are
// nanoseconds of the Unix epoch.
type (
	identity struct{ device, inode uint64 }
	stamp    struct{ size, modified, changed int64 }
)

// cachedDigest is the digest of one version of a file.
type cachedDigest struct {
	stamp
	hashed int64 // when reading began, in nanoseconds of the Unix epoch
	digest digest
	round  uint32 // of the last scan that found the file
}

// racyAge is the coarsest resolution of timestamps. A file that was changed less than this
// before it was read may change again without a new stamp, so its digest is not reused (git does
// the same).
const racyAge = 2 * time.Second

// digests caches the digests of files by what stat says of them.
type digests struct {
	all   map[identity]cachedDigest
	round uint32 // of the scan that runs, or ran last
	now   func() time.Time
	buf   []byte
}

func newDigests() *digests {
	return &digests{all: map[identity]cachedDigest{}, now: time.Now}
}

// beginScan starts a scan of the whole tree.
func (d *digests) beginScan() { d.round++ }

// endScan drops the files that the scan did not find.
func (d *digests) endScan() {
	for id, k := range d.all {
		if k.round != d.round {
			delete(d.all, id)
		}
	}
}

// lookup returns the digest of a file that has not changed since it was read.
func (d *digests) lookup(info fs.FileInfo) (digest, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return digest{}, false
	}
	id, now := identify(s)
	k, ok := d.all[id]
	if !ok || k.stamp != now || k.hashed-k.changed < int64(racyAge) {
		return digest{}, false
	}
	if k.round != d.round {
		k.round = d.round
		d.all[id] = k
	}
	return k.digest, true
}

func (d *digests) store(info fs.FileInfo, read time.Time, is digest) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		id, now := identify(s)
		d.all[id] = cachedDigest{stamp: now, hashed: read.UnixNano(), digest: is, round: d.round}
	}
}

// Errors of reading one file.
var (
	errOther    = errors.New("it became another file")
	errTooLarge = errors.New("it is above the limit")
	errChanged  = errors.New("it changes while it is read")
)

// openSame opens a regular file that stat has seen, and fails if anything else has taken its
// place. It follows no link and waits for no pipe.
func openSame(root *os.Root, name string, seen fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	is, err := f.Stat()
	if err == nil && (!is.Mode().IsRegular() || !os.SameFile(is, seen)) {
		err = errOther
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, is, nil
}

// read hashes a file of at most limit bytes, and passes what it reads to put unless that is nil.
// If the file changes meanwhile, it returns errChanged and the digest of what was read.
func (d *digests) read(ctx context.Context, f *os.File, is fs.FileInfo, limit int64, put func([]byte) error) (digest, int64, error) {
	if d.buf == nil {
		d.buf = make([]byte, maxFrame)
	}
	began, total, h := d.now(), int64(0), sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return digest{}, 0, err
		}
		n, err := f.Read(d.buf)
		if total += int64(n); total > limit {
			return digest{}, 0, errTooLarge
		}
		h.Write(d.buf[:n])
		if n > 0 && put != nil {
			if err := put(d.buf[:n]); err != nil {
				return digest{}, 0, err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return digest{}, 0, err
		}
	}
	sum := digest(h.Sum(nil))
	after, err := f.Stat()
	if err != nil {
		return digest{}, 0, err
	}
	if stampOf(after) != stampOf(is) || total != is.Size() {
		return sum, total, errChanged
	}
	d.store(after, began, sum)
	return sum, total, nil
}

func stampOf(info fs.FileInfo) stamp {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		_, st := identify(s)
		return st
	}
	return stamp{}
}
