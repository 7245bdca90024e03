package pypi

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
)

const (
	maxMetadata = 4 << 20 // bytes read of a file in an archive
	maxListed   = 1000    // dependencies
)

// notAll is in Scripts if an archive is too large to be inspected completely.
const notAll = "the archive is too large to be inspected completely"

// Inspect looks into a wheel, a source archive, or the metadata of a wheel. Its name and version
// must match the facts.
func (Ecosystem) Inspect(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	want := identity{project: f.Name}
	parsed, ok := parseVersion(v.Version)
	if !ok {
		return nil, registry.Refuse(403, registry.ReasonContent, "not a Python version number")
	}
	want.key = parsed.key
	name := fileName(file.URL)
	var in *registry.Inspection
	var err error
	switch {
	case file.Of != "":
		in, err = inspectMetadata(want, data, size)
	case strings.HasSuffix(name, ".whl"):
		if _, beside := f.File(file.URL + metadataSuffix); beside != nil {
			want.metadata = beside.Digests
		}
		in, err = inspectWheel(want, data, size)
	case strings.HasSuffix(name, ".zip"):
		in, err = inspectSource(want, func(s *source) (bool, error) {
			return true, archive.Zip(data, size, func(e archive.Entry, open func() (io.ReadCloser, error)) error {
				return s.visit(e, open)
			})
		})
	default:
		in, err = inspectSource(want, func(s *source) (bool, error) {
			return archive.Tar(data, size, func(e archive.Entry, r io.Reader) error {
				return s.visit(e, func() (io.ReadCloser, error) { return io.NopCloser(r), nil })
			})
		})
	}
	switch {
	case errors.Is(err, archive.ErrLimit):
		return nil, registry.Refuse(403, registry.ReasonLimit, "%s %s is too large to be inspected", f.Name, v.Version)
	case err != nil:
		return nil, registry.Refuse(403, registry.ReasonContent, "%s %s is not what the registry says: %v", f.Name, v.Version, err)
	}
	return in, nil
}

// identity is what an artifact must say about itself.
type identity struct {
	project, key string
	metadata     []registry.Digest // of the separate copy of a wheel's metadata, which clients resolve by
}

// matches reports whether a name and a version are the expected ones.
func (w identity) matches(name, version string) bool {
	normal, named := normalize(name)
	v, versioned := parseVersion(version)
	return named && versioned && normal == w.project && v.key == w.key
}

// checkMetadata reads the head of a METADATA or PKG-INFO file, in which Name and Version must
// appear exactly once. It returns the dependencies.
func (w identity) checkMetadata(data []byte) (needs []registry.Pin, err error) {
	found := map[string]string{}
	for line := range strings.FieldsFuncSeq(beforeBlank(string(data)), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line[0] == ' ' || line[0] == '\t' {
			continue // continues the line before
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			break
		}
		key = strings.ToLower(key)
		if _, twice := found[key]; twice && (key == "name" || key == "version") {
			return nil, errors.New("its metadata has two names or versions")
		}
		found[key] = strings.TrimSpace(value)
		if name, is := required(value); is && key == "requires-dist" && len(needs) < maxListed {
			needs = append(needs, registry.Pin{Name: name})
		}
	}
	if !w.matches(found["name"], found["version"]) {
		return nil, errors.New("its metadata has another name or version")
	}
	return needs, nil
}

// required returns the project of a requirement such as "foo[bar] >= 1; extra == 'x'".
func required(requirement string) (project string, ok bool) {
	requirement = strings.TrimSpace(requirement)
	end := strings.IndexFunc(requirement, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
	if end >= 0 {
		requirement = requirement[:end]
	}
	return normalize(requirement)
}

// beforeBlank returns the text before the first empty line, whatever the line ends are.
func beforeBlank(text string) string {
	end := len(text)
	for _, blank := range []string{"\n\n", "\n\r\n", "\r\n\r\n", "\r\r"} {
		if i := strings.Index(text[:end], blank); i >= 0 {
			end = i
		}
	}
	return text[:end]
}

func inspectMetadata(want identity, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	content, err := archive.ReadAll(io.NewSectionReader(data, 0, size), maxMetadata)
	if err != nil {
		return nil, err
	}
	needs, err := want.checkMetadata(content)
	return &registry.Inspection{Needs: needs}, err
}

// inspectWheel looks into a wheel. Nothing in a wheel runs at installation, but some files run
// whenever Python starts later.
func inspectWheel(want identity, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	in := &registry.Inspection{}
	var info string // the directory with the metadata
	found := map[string]bool{}
	err := archive.Zip(data, size, func(e archive.Entry, open func() (io.ReadCloser, error)) error {
		if e.Dir {
			return nil
		}
		in.AddFile(e.Name)
		top, rest, _ := strings.Cut(e.Name, "/")
		if stem, ok := strings.CutSuffix(strings.ToLower(top), ".dist-info"); ok && rest != "" {
			name, version, _ := strings.Cut(stem, "-")
			if info != "" && info != top || !want.matches(name, strings.ReplaceAll(version, "_", "-")) {
				return errors.New("it has metadata of another package")
			}
			info = top
			found[rest] = true
			if rest == "METADATA" {
				content, err := readEntry(e, open)
				if err != nil {
					return err
				}
				for _, d := range want.metadata {
					if !d.Fits(content) {
						return errors.New("its metadata differs from the registry's separate copy")
					}
				}
				in.Needs, err = want.checkMetadata(content)
				return err
			}
			return nil
		}
		script, err := atStart(e, open)
		if script != "" {
			in.AddScript(script)
		}
		return err
	})
	if err == nil && (!found["METADATA"] || !found["WHEEL"] || !found["RECORD"]) {
		err = errors.New("it is not a wheel: its metadata is incomplete")
	}
	return in, err
}

// readEntry reads a file in an archive.
func readEntry(e archive.Entry, open func() (io.ReadCloser, error)) ([]byte, error) {
	if e.Link || e.Dir {
		return nil, fmt.Errorf("its %s is a link", path.Base(e.Name))
	}
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return archive.ReadAll(r, maxMetadata)
}

// atStart returns how a file of a wheel runs when Python starts, or an empty string. Python imports
// sitecustomize and usercustomize, whatever kind of module they are, and runs some lines of .pth
// files. Its versions disagree about where a line ends.
func atStart(e archive.Entry, open func() (io.ReadCloser, error)) (string, error) {
	name := amongModules(e.Name)
	first, _, below := strings.Cut(name, "/")
	switch module, _, _ := strings.Cut(first, "."); {
	case module == "sitecustomize" || module == "usercustomize":
		return "whenever Python starts: " + printable(first), nil
	case !below && strings.HasSuffix(name, ".pth"):
		content, err := readEntry(e, open)
		if err != nil {
			return "", err
		}
		if text := string(content); strings.Contains(text, "import ") || strings.Contains(text, "import\t") {
			return "whenever Python starts: " + printable(name), nil
		}
	}
	return "", nil
}

// amongModules returns where a file of a wheel is installed below the directory of modules, or an
// empty string if it is installed elsewhere.
func amongModules(name string) string {
	top, rest, _ := strings.Cut(name, "/")
	if !strings.HasSuffix(top, ".data") {
		return name
	}
	switch scheme, rest, _ := strings.Cut(rest, "/"); scheme {
	case "purelib", "platlib":
		return rest
	case "data": // below the prefix, which contains the directory of modules
		for _, modules := range []string{"/site-packages/", "/dist-packages/"} {
			if _, inside, ok := strings.Cut("/"+rest, modules); ok {
				return inside
			}
		}
	}
	return ""
}

// printable returns a short untrusted text, or a note that it is not printable.
func printable(s string) string {
	if len(s) > 100 || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "(unreadable)"
	}
	return s
}
