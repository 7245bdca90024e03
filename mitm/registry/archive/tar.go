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
)

// Tar calls visit for each entry of a tar archive that is compressed with gzip or bzip2, in
// order; r has the entry's content until visit returns. It ends with the first error of visit.
// Names may repeat. An archive beyond the bounds is read up to them, and is not whole.
func Tar(data io.ReaderAt, size int64, visit func(e Entry, r io.Reader) error) (whole bool, err error) {
	packed := bufio.NewReader(io.NewSectionReader(data, 0, size))
	unpacked, err := decompress(packed)
	if err != nil {
		return false, err
	}
	stream := &bounded{r: unpacked, left: MaxDecoded}
	err = walk(tar.NewReader(stream), visit)
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
		return false, errors.New("the archive goes on after its end")
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
	z.Multistream(false) // some readers stop after the first stream, others go on
	return z, nil
}

// CheckGlobal refuses a header for all files behind it that says more than a comment, as Git
// writes one: some installers take their names or sizes from it, others do not.
func CheckGlobal(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key != "comment" {
			return errors.New("the archive has a header for all its files that says more than a comment")
		}
	}
	return nil
}

func walk(t *tar.Reader, visit func(e Entry, r io.Reader) error) error {
	for n := 0; ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if n++; n > MaxEntries {
			return ErrLimit
		}
		e := Entry{Size: h.Size}
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			if err := CheckGlobal(h); err != nil {
				return err
			}
			continue
		case tar.TypeReg, tar.TypeGNUSparse:
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
