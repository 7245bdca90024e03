package archive

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// maxDirectory bounds the directory at the end of a zip file, in bytes.
const maxDirectory = 8 << 20

// Zip calls visit for each entry of a zip file, in the order of the directory at its end; open
// opens the entry's content. Zip returns the first error of visit. No name repeats, and a reader
// that scans the file from its beginning finds the same entries as one that reads the directory.
func Zip(data io.ReaderAt, size int64, visit func(e Entry, open func() (io.ReadCloser, error)) error) error {
	directory, err := checkEnd(data, size)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(data, size)
	if err != nil {
		return fmt.Errorf("read the zip file: %w", err)
	}
	if err := checkOrder(data, z.File, directory); err != nil {
		return err
	}
	seen := make(map[string]bool, len(z.File))
	left := int64(MaxDecoded)
	for _, f := range z.File {
		e := Entry{Dir: f.Mode().IsDir(), Link: f.Mode()&fs.ModeSymlink != 0}
		if e.Name, err = clean(f.Name); err != nil {
			return err
		}
		if e.Name == "" || seen[e.Name] {
			return errors.New("the zip file has two entries with the same name, or one without a name")
		}
		seen[e.Name] = true
		open := func() (io.ReadCloser, error) {
			r, err := f.Open()
			if err != nil {
				return nil, fmt.Errorf("read the zip file: %w", err)
			}
			return &counted{ReadCloser: r, left: &left}, nil
		}
		if err := visit(e, open); err != nil {
			return err
		}
	}
	return nil
}

// counted subtracts what it reads from the bytes that may still be decompressed.
type counted struct {
	io.ReadCloser
	left *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if *c.left -= int64(n); *c.left < 0 {
		return 0, ErrLimit
	}
	return n, err
}

// checkEnd checks the record at the end of a zip file before a reader allocates memory for the sizes
// in it. It returns where the directory begins.
func checkEnd(data io.ReaderAt, size int64) (int64, error) {
	const record, locator = 22, 20
	if size < record {
		return 0, errors.New("the file is not a zip file")
	}
	end := make([]byte, locator+record)
	from := max(size-locator-record, 0)
	if _, err := data.ReadAt(end[:size-from], from); err != nil && err != io.EOF {
		return 0, err
	}
	end = end[:size-from]
	if before := end[:len(end)-record]; len(before) == locator && string(before[:4]) == "PK\x06\x07" {
		return 0, errors.New("the zip file ends with a record for large files")
	}
	end = end[len(end)-record:]
	le := binary.LittleEndian
	if string(end[:4]) != "PK\x05\x06" || le.Uint16(end[20:]) != 0 {
		return 0, errors.New("the zip file does not end with its directory, or has a comment")
	}
	count, length, start := le.Uint16(end[10:]), int64(le.Uint32(end[12:])), int64(le.Uint32(end[16:]))
	if le.Uint32(end[4:]) != 0 || le.Uint16(end[8:]) != count || start+length != size-record {
		return 0, errors.New("the zip file's directory is not where its end record says")
	}
	if count > MaxEntries || length > maxDirectory {
		return 0, ErrLimit
	}
	return start, nil
}

// checkOrder checks that the entries fill the file up to the directory without gaps, and that the
// local head of each agrees with the directory.
func checkOrder(data io.ReaderAt, files []*zip.File, directory int64) error {
	type place struct {
		file *zip.File
		data int64
	}
	places := make([]place, 0, len(files))
	for _, f := range files {
		at, err := f.DataOffset()
		if err != nil {
			return fmt.Errorf("read the zip file: %w", err)
		}
		places = append(places, place{f, at})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.data, b.data) })
	next := int64(0)
	for _, p := range places {
		after, err := checkLocal(data, p.file, next, p.data)
		if err != nil {
			return err
		}
		next = after
	}
	if next != directory {
		return errors.New("the zip file has bytes that belong to no entry")
	}
	return nil
}
