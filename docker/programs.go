package docker

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Lacks lists the programs that the image is made of and that are not installed
// on this machine. An image that lacks something cannot be built.
func (s ImageSpec) Lacks() []string {
	var missing []string
	for _, name := range s.programs {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// findPrograms returns the paths of the programs of this machine that an image
// is made of, by their names in the build context.
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
