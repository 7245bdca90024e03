package stored

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/machine"
)

// LabelHome is the label with the state directory that a volume without a session belongs to.
const LabelHome = "ironcurtain.home"

// Objects is a volume with the objects of one repository from which worktrees borrow, on an engine
// that does not see this machine's files. Sessions share it.
type Objects struct {
	Volume string            // the name
	Labels map[string]string // the labels to make it with
	State  string            // a file of this machine about the volume's content; its time is that of the last use
}

// ObjectsOf returns the volume of a repository's objects on an engine. Other machines and state
// directories have other volumes, because they do not know the content of this one.
func ObjectsOf(home, engine, repository string) (Objects, error) {
	host, err := machine.Label()
	if err != nil {
		return Objects{}, fmt.Errorf("name the volume of a repository: %w", err)
	}
	of := func(parts ...string) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
		return hex.EncodeToString(sum[:])[:16]
	}
	name := "ironcurtain-objects-" + of(host, home, engine, repository)
	return Objects{
		Volume: name,
		Labels: map[string]string{docker.LabelObjects: of(repository), docker.LabelHost: host, LabelHome: home},
		State:  objectsState(home, name),
	}, nil
}

// objectsState returns the path of the file about a volume of objects.
func objectsState(home, volume string) string { return filepath.Join(home, "objects", volume) }

// Use notes that the volume is used now. It does nothing if the file State does not exist yet.
func (o Objects) Use() error {
	now := time.Now()
	if err := os.Chtimes(o.State, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note when the objects of a repository were used: %w", err)
	}
	return nil
}
