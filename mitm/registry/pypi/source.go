package pypi

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
)

// source collects the relevant files of a source archive.
type source struct {
	in    registry.Inspection
	top   string // the top directory, which contains everything
	files map[string][]byte
}

// read are the files in the top directory whose content is read.
var read = map[string]bool{"PKG-INFO": true, "pyproject.toml": true, "setup.py": true, "setup.cfg": true}

// visit handles one entry.
func (s *source) visit(e archive.Entry, open func() (io.ReadCloser, error)) error {
	top, rest, _ := strings.Cut(e.Name, "/")
	if s.top == "" {
		s.top = top
	}
	if top != s.top || rest == "" && !e.Dir {
		return errors.New("it has files outside its top directory")
	}
	if !e.Dir {
		s.in.AddFile(e.Name)
	}
	if !read[rest] {
		return nil
	}
	if _, twice := s.files[rest]; twice {
		return fmt.Errorf("it has %s twice", rest)
	}
	content, err := readEntry(e, open)
	if err == nil {
		s.files[rest] = content
	}
	return err
}

// inspectSource looks into a source archive. Building it runs code of its own.
func inspectSource(want identity, walk func(s *source) (whole bool, err error)) (*registry.Inspection, error) {
	s := &source{files: map[string][]byte{}}
	whole, err := walk(s)
	if err != nil {
		return nil, err
	}
	about, there := s.files["PKG-INFO"]
	if !there && !whole {
		return nil, archive.ErrLimit
	}
	if !there {
		return nil, errors.New("it has no PKG-INFO")
	}
	if _, err := want.checkMetadata(about); err != nil {
		return nil, err
	}
	s.in.Scripts = s.scripts()
	if !whole {
		s.in.Scripts = append(s.in.Scripts, notAll)
	}
	return &s.in, nil
}

// scripts lists what runs when the archive is built.
func (s *source) scripts() []string {
	var scripts []string
	if project, there := s.files["pyproject.toml"]; there {
		scripts = append(scripts, "build: "+backend(project))
	}
	if _, there := s.files["setup.py"]; there {
		scripts = append(scripts, "build: setup.py")
	}
	if len(scripts) == 0 {
		scripts = append(scripts, "build: setuptools")
	}
	return scripts
}

// backend returns the build backend that pyproject.toml names.
func backend(project []byte) string {
	p, err := registry.ParseManifest(project)
	if err != nil {
		return "pyproject.toml (unreadable)"
	}
	system, _ := p["build-system"].(map[string]any)
	name, ok := system["build-backend"].(string)
	if !ok {
		return "setuptools"
	}
	if _, own := system["backend-path"]; own {
		return printable(name) + " (its own)"
	}
	return printable(name)
}
