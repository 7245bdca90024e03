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

// LabelHome is the state directory of those who have made a volume that belongs to no session.
const LabelHome = "ironcurtain.home"

// Objects are what an engine that does not see this machine's files has of one repository: a volume
// with the objects that worktrees borrow. Sessions share it.
type Objects struct {
	Volume string            // its name
	Labels map[string]string // what it is made with
	State  string            // a file of this machine about what the volume has; its time says when that was used last
}

// ObjectsOf returns the volume of a repository's objects on an engine: of this machine and this
// state directory alone, because nobody else knows what is in it.
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

// objectsState is the file about a volume of objects.
func objectsState(home, volume string) string { return filepath.Join(home, "objects", volume) }

// Use notes that the volume is used now. Of one that nothing is known of yet, nothing is noted.
func (o Objects) Use() error {
	now := time.Now()
	if err := os.Chtimes(o.State, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note when the objects of a repository were used: %w", err)
	}
	return nil
}
