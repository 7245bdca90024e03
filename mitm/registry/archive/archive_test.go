package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
)

// tarball packs headers and contents; a content is cut to the header's size.
func tarball(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range entries {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func file(name string, size int64) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size, Mode: 0o644}
}

// entry is one file whose head is changed at some places.
func entry(name string, change map[int]string, content string) []byte {
	var head [512]byte
	for at, text := range map[int]string{0: name, 100: "0000644", 124: fmt.Sprintf("%011o", len(content)), 148: "        ", 156: "0", 257: "ustar\x0000"} {
		copy(head[at:], text)
	}
	for at, text := range change {
		copy(head[at:], text)
	}
	sum := 0
	for _, b := range head {
		sum += int(b)
	}
	copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	return slices.Concat(head[:], []byte(content), make([]byte, (512-len(content)%512)%512))
}

// changed is an archive of one such file, and maybe of more.
func changed(t testing.TB, name string, change map[int]string, more ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(slices.Concat(slices.Concat(more...), entry(name, change, ""), make([]byte, 1024)))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarNames(data []byte) (names []string, whole bool, err error) {
	whole, err = Tar(bytes.NewReader(data), int64(len(data)), func(e Entry, r io.Reader) error {
		names = append(names, e.Name)
		_, err := io.Copy(io.Discard, r)
		return err
	})
	return names, whole, err
}

func TestTar(t *testing.T) {
	good := tarball(t, tar.Header{Name: "a-1/", Typeflag: tar.TypeDir}, file("a-1/x", 5), file("./a-1/y", 0),
		tar.Header{Name: "a-1/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	many := make([]tar.Header, MaxEntries+1)
	for i := range many {
		many[i] = file(fmt.Sprint("n", i), 0)
	}
	for _, tc := range []struct {
		name  string
		data  []byte
		want  string // names, or the error
		whole bool
	}{
		{"good", good, "a-1 a-1/x a-1/y a-1/link", true},
		{"a comment for all files", tarball(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "a1b2"}}, file("x", 1)), "x", true},
		{"a name for all files", tarball(t, tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"path": "package.json"}}, file("x", 1)), "more than a comment", false},
		{"up", tarball(t, file("a/../../x", 1)), "leads out", false},
		{"absolute", tarball(t, file("/etc/x", 1)), "leads out", false},
		{"backslash", tarball(t, file(`a\x`, 1)), "plain text", false},
		{"device", tarball(t, tar.Header{Name: "x", Typeflag: tar.TypeChar}), "neither", false},
		{"a directory in front", changed(t, "x", map[int]string{345: "a-1"}), "a-1/x", true},
		{"the oldest form", changed(t, "a-1/x", map[int]string{257: "\x00\x00\x00\x00\x00\x00\x00\x00"}), "a-1/x", true},
		{"a directory in the oldest form", changed(t, "a-1/x", map[int]string{257: "\x00\x00\x00\x00\x00\x00\x00\x00", 345: "a-1"}), "different names", false},
		{"a directory in another version", changed(t, "a-1/x", map[int]string{263: "01", 345: "a-1/y"}), "different names", false},
		{"a directory in GNU's form", changed(t, "a-1/x", map[int]string{257: "ustar  \x00", 345: "a-1"}), "different names", false},
		{"a directory in star's form", changed(t, "a-1/x", map[int]string{345: "a-1", 508: "tar\x00"}), "different names", false},
		{"holes in GNU's form", changed(t, "x", map[int]string{156: "S", 257: "ustar  \x00"}), "sparse file", false},
		{"holes in pax form", changed(t, "x", nil, entry("pax", map[int]string{156: "x"}, "22 GNU.sparse.map=0,0\n26 GNU.sparse.numblocks=1\n21 GNU.sparse.size=0\n21 GNU.sparse.name=a\n")), "sparse file", false},
		{"second stream", append(slices.Clone(good), good...), "after its end", false},
		{"cut", good[:len(good)-12], "unexpected EOF", false},
		{"no archive", []byte("hello world"), "gzip", false},
		{"empty", nil, "empty", false},
		{"too large", tarball(t, file("first", 1), file("bomb", MaxDecoded)), "first bomb", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			names, whole, err := tarNames(tc.data)
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) || whole != tc.whole {
				t.Errorf("%q, whole %v; want %q, %v", got, whole, tc.want, tc.whole)
			}
		})
	}
	if names, whole, err := tarNames(tarball(t, many...)); len(names) != MaxEntries || whole || err != nil {
		t.Errorf("%d entries, whole %v, %v", len(names), whole, err)
	}
}

// zipped packs names and contents.
func zipped(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err == nil {
			_, err = io.WriteString(f, pairs[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stored packs entries with their sizes in their heads, as Python does.
func stored(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		h := &zip.FileHeader{Name: pairs[i], CompressedSize64: uint64(len(pairs[i+1])), UncompressedSize64: uint64(len(pairs[i+1])), CRC32: sum(pairs[i+1])}
		f, err := w.CreateRaw(h)
		if err == nil {
			_, err = io.WriteString(f, pairs[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// extra packs an empty file with an extra field of that kind.
func extra(t testing.TB, kind uint16, data string) []byte {
	t.Helper()
	field := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, kind), uint16(len(data)))
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	_, err := w.CreateRaw(&zip.FileHeader{Name: "a", Extra: append(field, data...)})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipContents(data []byte) (string, error) {
	var all []string
	err := Zip(bytes.NewReader(data), int64(len(data)), func(e Entry, open func() (io.ReadCloser, error)) error {
		r, err := open()
		if err != nil {
			return err
		}
		defer r.Close()
		content, err := ReadAll(r, 1<<20)
		all = append(all, e.Name+"="+string(content))
		return err
	})
	return strings.Join(all, " "), err
}

func TestZip(t *testing.T) {
	good := stored(t, "a", "1", "b/c", "22")
	streamed := zipped(t, "a", "1", "b/c", strings.Repeat("x", 50))
	gap := slices.Clone(good)
	// A second entry that the directory does not know, in front of it.
	at := bytes.Index(gap, []byte("PK\x01\x02"))
	hidden := stored(t, "hidden", "!")
	hidden = hidden[:bytes.Index(hidden, []byte("PK\x01\x02"))]
	gap = slices.Concat(gap[:at], hidden, gap[at:])
	binary.LittleEndian.PutUint32(gap[len(gap)-6:], uint32(at+len(hidden)))
	other := slices.Clone(good)
	other[30] = 'z' // the name in the first entry's own head
	size := slices.Clone(good)
	size[18]++
	count := slices.Clone(good)
	binary.LittleEndian.PutUint16(count[len(count)-14:], 0xfffe)
	binary.LittleEndian.PutUint16(count[len(count)-12:], 0xfffe)
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"good", good, "a=1 b/c=22"},
		{"sizes after the content", streamed, "a=1 b/c=" + strings.Repeat("x", 50)},
		{"twice", stored(t, "a", "1", "a", "2"), "two entries"},
		{"up", stored(t, "../a", "1"), ""},
		{"an entry that is not in the directory", gap, "belong to no entry"},
		{"another name in the head", other, "differs from"},
		{"another size in the head", size, "differs from"},
		{"a time of another form", extra(t, 0x5455, "\x01abcd"), "a="},
		{"another name of another form", extra(t, 0x7075, "\x01abcdsetup.py"), "differs from"},
		{"something before", append([]byte("#!/bin/sh\n"), good...), "not where"},
		{"something behind", append(slices.Clone(good), 0), "does not end"},
		{"many", count, "too large"},
		{"empty", nil, "not a zip file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := zipContents(tc.data)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) || (tc.want == "" && err == nil) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// What is read of all entries together is bounded.
func TestZipBound(t *testing.T) {
	data := stored(t, "a", strings.Repeat("\x00", MaxDecoded/2), "b", strings.Repeat("\x00", MaxDecoded/2+1))
	err := Zip(bytes.NewReader(data), int64(len(data)), func(_ Entry, open func() (io.ReadCloser, error)) error {
		r, err := open()
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(io.Discard, r)
		return err
	})
	if !errors.Is(err, ErrLimit) {
		t.Errorf("%v", err)
	}
}

func FuzzTar(f *testing.F) {
	f.Add(tarball(f, file("a/b", 3)))
	f.Add([]byte("BZh9"))
	f.Fuzz(func(t *testing.T, data []byte) {
		names, _, _ := tarNames(data)
		for _, name := range names {
			if strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") {
				t.Errorf("%q", name)
			}
		}
	})
}

func FuzzZip(f *testing.F) {
	f.Add(zipped(f, "a/b", "xyz"))
	f.Add(stored(f, "a", "1", "b", ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := zipContents(data); err != nil {
			return
		}
		// What a reader finds that begins at the beginning.
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if len(z.File) > 0 && string(data[:4]) != "PK\x03\x04" {
			t.Error("the first entry is not at the beginning")
		}
	})
}

func sum(s string) uint32 { return crc32.ChecksumIEEE([]byte(s)) }
