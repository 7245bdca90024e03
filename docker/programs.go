package docker

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

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
