package docker

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

//go:embed images
var embeddedImages embed.FS

// ImageSpec is one image this program can build: a directory below images
// with a Dockerfile. Comment lines of the form "#ironcurtain:key value" say
// what a Dockerfile cannot:
//
//	title TEXT                    for people
//	parent NAME                   the image it is built on
//	rootfs SUITE IMAGE            it is built on IMAGE of a registry or, without
//	                              one, on a Debian SUITE made by mmdebstrap
//	version ARG                   the build argument that pins the agent
//	npm FILE PACKAGE@VERSION PATH one file of an npm package, put into the build
//	                              context; a PATH that ends in a slash is a
//	                              directory, which becomes a tar archive. {ARG},
//	                              {arch} and {machine} are replaced
//	program NAME                  a program of this machine, found in its PATH, put
//	                              into the build context
type ImageSpec struct {
	Name    string            `json:"name"`    // "claude-code"
	Title   string            `json:"title"`   // "Claude Code"
	Parent  string            `json:"parent"`  // name of another spec; empty for the root
	Version string            `json:"version"` // of the agent; empty when none is pinned
	Args    map[string]string `json:"args"`    // build arguments with their pinned values

	files    map[string][]byte // of the image's directory, by name
	rootfs   rootfsSource
	npm      []npmFile
	programs []string          // names of programs of this machine
	more     []string          // Debian packages that a Recipe adds; only to the root image
	labels   map[string]string // replace those of the recipe
}

// rootfsSource says where the root file system of all images comes from.
type rootfsSource struct {
	suite string // "trixie"; empty for images with a parent
	image string // "debian:trixie-slim"
	other bool   // image is the person's choice, not the Dockerfile's
}

// npmFile is one file taken out of an npm package.
type npmFile struct {
	name string // in the build context
	pkg  string // "@scope/name@version", {arch} not yet replaced
	path string // in the package, {machine} not yet replaced
}

// Images lists the images of the embedded tree by name. It panics if the tree is
// invalid; the tests make sure that it is not.
func Images() []ImageSpec {
	list, err := readImages(embeddedImages)
	if err != nil {
		panic("docker: embedded images: " + err.Error())
	}
	return list
}

// readImages parses every directory below images.
func readImages(tree fs.FS) ([]ImageSpec, error) {
	dirs, err := fs.ReadDir(tree, "images")
	if err != nil {
		return nil, err
	}
	var list []ImageSpec
	for _, d := range dirs {
		spec, err := readImage(tree, d.Name())
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", d.Name(), err)
		}
		list = append(list, spec)
	}
	return list, nil
}

func readImage(tree fs.FS, name string) (ImageSpec, error) {
	s := ImageSpec{Name: name, Title: name, Args: map[string]string{}, files: map[string][]byte{}}
	dir := path.Join("images", name)
	entries, err := fs.ReadDir(tree, dir)
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		data, err := fs.ReadFile(tree, path.Join(dir, e.Name()))
		if err != nil {
			return s, err
		}
		s.files[e.Name()] = data
	}
	return s, s.parse(string(s.files["Dockerfile"]))
}

// parse reads arguments and directives from the Dockerfile.
func (s *ImageSpec) parse(dockerfile string) error {
	var directives [][]string
	lines := bufio.NewScanner(strings.NewReader(dockerfile))
	for lines.Scan() {
		line := lines.Text()
		if d, ok := strings.CutPrefix(line, "#ironcurtain:"); ok {
			directives = append(directives, strings.Fields(d))
		}
		if arg, ok := strings.CutPrefix(line, "ARG "); ok {
			if name, value, ok := strings.Cut(strings.TrimSpace(arg), "="); ok && name != "PARENT" {
				s.Args[name] = strings.Trim(value, `"`)
			}
		}
	}
	for _, d := range directives {
		if err := s.direct(d); err != nil {
			return err
		}
	}
	if !strings.Contains(dockerfile, "FROM ${PARENT}") {
		return fmt.Errorf("the Dockerfile is not built FROM ${PARENT}")
	}
	if (s.Parent == "") == (s.rootfs.suite == "") {
		return fmt.Errorf("exactly one of parent and rootfs is needed")
	}
	return lines.Err()
}

// direct applies one directive.
func (s *ImageSpec) direct(d []string) error {
	switch {
	case len(d) >= 2 && d[0] == "title":
		s.Title = strings.Join(d[1:], " ")
	case len(d) == 2 && d[0] == "parent":
		s.Parent = d[1]
	case len(d) == 3 && d[0] == "rootfs":
		s.rootfs = rootfsSource{suite: d[1], image: d[2]}
	case len(d) == 2 && d[0] == "version" && s.Args[d[1]] != "":
		s.Version = s.Args[d[1]]
	case len(d) == 2 && d[0] == "program" && filepath.Base(d[1]) == d[1]:
		s.programs = append(s.programs, d[1])
	case len(d) == 4 && d[0] == "npm":
		s.npm = append(s.npm, npmFile{name: d[1], pkg: s.expand(d[2]), path: d[3]})
	default:
		return fmt.Errorf("directive %q is not understood", strings.Join(d, " "))
	}
	return nil
}

// expand replaces {ARG} by the argument's pinned value.
func (s *ImageSpec) expand(text string) string {
	for name, value := range s.Args {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// packages returns the names of the Debian packages that a root image needs.
func (s ImageSpec) packages() []string {
	return slices.Concat(strings.Fields(s.Args["PACKAGES"]), s.more)
}

// hash identifies what the image is built from: its files, the pinned values
// in them, its packages and its parent.
func (s ImageSpec) hash(parentHash, architecture string) string {
	h := sha256.New()
	fmt.Fprintf(h, "recipe 3\nparent %s\narchitecture %s\npackages %q\n", parentHash, architecture, s.packages())
	names := make([]string, 0, len(s.files))
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(h, "file %q %d\n", name, len(s.files[name]))
		h.Write(s.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// chain returns the images to build for name, the root first.
func chain(list []ImageSpec, name string) ([]ImageSpec, error) {
	var out []ImageSpec
	for at := name; at != ""; {
		i := slices.IndexFunc(list, func(s ImageSpec) bool { return s.Name == at })
		if i < 0 {
			return nil, because(ErrUnknownImage, "%q; there are %s", at, imageNames(list))
		}
		if len(out) > len(list) {
			return nil, fmt.Errorf("image %s is its own ancestor", name)
		}
		out = append(out, list[i])
		at = list[i].Parent
	}
	slices.Reverse(out)
	return out, nil
}

func imageNames(list []ImageSpec) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

const repository = "ironcurtain/"

// tags returns the tag of every image of a chain, in its order.
func tags(chain []ImageSpec, architecture string) []string {
	out := make([]string, len(chain))
	hash := ""
	for i, s := range chain {
		if s.rootfs.other {
			hash = "base " + s.rootfs.image
		}
		hash = s.hash(hash, architecture)
		out[i] = repository + s.Name + ":" + hash
	}
	return out
}

// Lacks lists the programs that the image takes from this machine and that are not
// installed here. An image that lacks a program cannot be built.
func (s ImageSpec) Lacks() []string {
	var missing []string
	for _, name := range s.programs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// findPrograms adds to the map the paths of the programs that an image takes from this
// machine, by their names in the build context.
func (b *imageBuild) findPrograms(spec ImageSpec, into map[string]string) error {
	if missing := spec.Lacks(); len(missing) > 0 {
		return &fault.Error{
			Op:   "find the programs of image " + spec.Name,
			Err:  fmt.Errorf("not installed on this machine: %s", strings.Join(missing, ", ")),
			Next: fmt.Sprintf("install %s %s so that it is found in PATH", strings.Join(missing, ", "), spec.Version),
		}
	}
	for _, name := range spec.programs {
		path, err := exec.LookPath(name)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return err
		}
		b.report.detail("from this machine: " + path)
		into[name] = path
	}
	return nil
}
