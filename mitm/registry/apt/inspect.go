package apt

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxControl bounds the control part of a package, decompressed, in bytes.
const maxControl = 16 << 20

// scripts are the files in the control part that run when a package is installed or removed.
var scripts = map[string]bool{"preinst": true, "postinst": true, "prerm": true, "postrm": true, "config": true}

// Inspect checks that a binary package is the one that its index describes, and lists its scripts.
// It does not look at the files: decompressing them would take longer than the download, and their
// hash is signed. Source packages run nothing.
func (*Ecosystem) Inspect(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	if name := path.Base(file.URL); !strings.HasSuffix(name, "deb") {
		return &registry.Inspection{}, nil
	}
	refuse := func(why string) error {
		return registry.Refuse(403, registry.ReasonContent, "%s: %s", path.Base(file.URL), why)
	}
	control, err := controlOf(data, size)
	if err != nil {
		return nil, refuse("it is not a Debian package")
	}
	found := &registry.Inspection{}
	name, version, err := readControl(control, found)
	if err != nil {
		return nil, refuse("its control file cannot be read")
	}
	if name != f.Name || version != v.Version {
		return nil, refuse("it is another package than its index says")
	}
	return found, nil
}

// member is a file in a package's archive.
type member struct {
	name string
	data *io.SectionReader
}

var errMember = errors.New("not the archive of a package")

// controlOf returns the control part of a package. The package is an archive of "ar": a version,
// this part, the files, and maybe more that nobody reads.
func controlOf(data io.ReaderAt, size int64) (member, error) {
	const magic, head = "!<arch>\n", 60
	start := make([]byte, len(magic))
	if _, err := data.ReadAt(start, 0); err != nil || string(start) != magic {
		return member{}, errMember
	}
	var parts [3]member
	offset := int64(len(magic))
	for i := range parts {
		header := make([]byte, head)
		if n, _ := data.ReadAt(header, offset); n < head || string(header[58:]) != "`\n" {
			return member{}, errMember
		}
		length, err := strconv.ParseInt(strings.TrimRight(string(header[48:58]), " "), 10, 64)
		offset += head
		if err != nil || length < 0 || length > size-offset {
			return member{}, errMember
		}
		name := strings.TrimSuffix(strings.TrimRight(string(header[:16]), " "), "/")
		parts[i] = member{name, io.NewSectionReader(data, offset, length)}
		offset += (length + 1) &^ 1
	}
	if parts[0].name != "debian-binary" || !strings.HasPrefix(parts[1].name, "control.tar") || !strings.HasPrefix(parts[2].name, "data.tar") {
		return member{}, errMember
	}
	return parts[1], nil
}

// readControl reads the control part of a package: its name, its version, the names of its scripts.
func readControl(m member, found *registry.Inspection) (name, version string, err error) {
	end := path.Ext(m.name)
	if end == ".tar" {
		end = ""
	}
	text, err := decompress(end, m.data, m.data.Size(), maxControl)
	if err != nil {
		return "", "", err
	}
	defer text.Close()
	archive := tar.NewReader(text)
	seen := map[string]bool{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			if name == "" || version == "" {
				return "", "", errFormat
			}
			return name, version, nil
		}
		if err != nil {
			return "", "", err
		}
		entry := path.Clean("/" + header.Name)[1:]
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if seen[entry] || header.Typeflag != tar.TypeReg || len(header.PAXRecords) > 0 { // dpkg does not know such records
			return "", "", errFormat
		}
		seen[entry] = true
		if scripts[entry] {
			found.Scripts = append(found.Scripts, entry)
		}
		if entry == "control" {
			if name, version, err = readSelf(archive); err != nil {
				return "", "", err
			}
		}
	}
}

// readSelf reads the name and the version in a control file.
func readSelf(r io.Reader) (name, version string, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err != nil {
		return "", "", err
	}
	if len(text) > maxLine {
		return "", "", errTooLarge
	}
	paragraphs := 0
	err = stanzas(bytes.NewReader(text), []string{"Package", "Version"}, func(s stanza) error {
		name, version = s[0], s[1]
		if paragraphs++; paragraphs > 1 {
			return errFormat
		}
		return nil
	})
	return name, version, err
}
