package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Tar calls visit for each entry of a tar archive that is compressed with gzip or bzip2, in order.
// r has the entry's content until visit returns. Tar returns the first error of visit. Names may
// repeat. If an archive exceeds the bounds, Tar stops there and whole is false.
func Tar(data io.ReaderAt, size int64, visit func(e Entry, r io.Reader) error) (whole bool, err error) {
	packed := bufio.NewReader(io.NewSectionReader(data, 0, size))
	unpacked, err := decompress(packed)
	if err != nil {
		return false, err
	}
	stream := &bounded{r: unpacked, left: MaxDecoded}
	heads := &Heads{R: stream}
	err = walk(tar.NewReader(heads), heads, visit)
	if err == nil {
		_, err = io.Copy(io.Discard, stream) // so that the checksum is compared
	}
	if errors.Is(err, ErrLimit) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := packed.ReadByte(); err != io.EOF {
		return false, errors.New("the archive has data after its end")
	}
	return true, nil
}

// decompress chooses the compression by the first bytes, as installers do.
func decompress(r *bufio.Reader) (io.Reader, error) {
	magic, err := r.Peek(3)
	if err != nil {
		return nil, fmt.Errorf("the archive is empty or cannot be read: %w", err)
	}
	if bytes.Equal(magic, []byte("BZh")) {
		return bzip2.NewReader(r), nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("the archive is not compressed with gzip: %w", err)
	}
	z.Multistream(false) // some readers stop after the first stream, others continue
	return z, nil
}

// checkGlobal refuses a global header that contains more than a comment, which Git writes: some
// installers take names or sizes of files from it, others do not.
func checkGlobal(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key != "comment" {
			return errors.New("the archive has a global header with more than a comment")
		}
	}
	return nil
}

// Heads is the input of a tar.Reader. It keeps the last block, which is the head of an entry after
// tar.Reader.Next.
type Heads struct {
	R     io.Reader
	block [512]byte
}

// Read reads from R.
func (l *Heads) Read(p []byte) (int, error) {
	n, err := l.R.Read(p)
	kept := copy(l.block[:], l.block[min(n, len(l.block)):])
	copy(l.block[kept:], p[max(0, n-len(l.block)):n])
	return n, err
}

// Check refuses an entry if installers read different names or contents from its head. h is the
// parsed head.
func (l *Heads) Check(h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return checkGlobal(h)
	}
	sparse := h.Typeflag == tar.TypeGNUSparse
	for key := range h.PAXRecords {
		sparse = sparse || strings.HasPrefix(key, "GNU.sparse.")
	}
	if sparse {
		return errors.New("the archive has a sparse file, whose name and content some installers read differently")
	}
	if !l.oneName() {
		return errors.New("the archive has a head from which installers read different names")
	}
	return nil
}

// oneName reports whether all readers read the same name from a head: some use the prefix field only
// in heads of the standard's form, others always.
func (l *Heads) oneName() bool {
	const magic, prefix, end = 257, 345, 500
	if string(l.block[magic:magic+8]) == "ustar\x0000" {
		return string(l.block[508:]) != "tar\x00" // in this form the field is shorter
	}
	return bytes.Count(l.block[prefix:end], []byte{0}) == end-prefix
}

func walk(t *tar.Reader, heads *Heads, visit func(e Entry, r io.Reader) error) error {
	for n := 0; ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if n++; n > MaxEntries {
			return ErrLimit
		}
		if err := heads.Check(h); err != nil {
			return err
		}
		e := Entry{Extended: len(h.PAXRecords) > 0}
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		case tar.TypeDir:
			e.Dir = true
		case tar.TypeSymlink, tar.TypeLink:
			e.Link = true
		default:
			return errors.New("the archive has an entry that is neither file nor directory nor link")
		}
		if e.Name, err = clean(h.Name); err != nil {
			return err
		}
		if e.Name == "" {
			continue
		}
		if err := visit(e, t); err != nil {
			return err
		}
	}
}
