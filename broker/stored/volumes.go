package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/machine"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// objectsKept is how long the objects of a repository stay on an engine after their last use.
const objectsKept = 30 * 24 * time.Hour

// SweptVolume is a volume that SweepVolumes has examined.
type SweptVolume struct {
	docker.Volume
	Removed bool   `json:"removed"` // it was removed, or without VolumeSweep.Remove would be
	Reason  string `json:"reason"`  // why, or why not
}

// VolumeSweep says what SweepVolumes removes.
type VolumeSweep struct {
	Remove  bool // remove volumes, not only report them
	Objects bool // also remove objects of repositories that were used recently, unless a container uses them
}

// SweepVolumes removes the volumes on an engine whose sessions are gone from this state directory,
// and those with objects of repositories that were not used for 30 days. It never removes a volume
// of another machine or state directory, because only that one knows what needs the volume. It
// continues after a failure and reports all failures.
func SweepVolumes(ctx context.Context, home string, engine *docker.Client, o VolumeSweep) ([]SweptVolume, error) {
	host, err := machine.Label()
	if err != nil {
		return nil, fmt.Errorf("remove volumes: %w", err)
	}
	list, err := engine.Volumes(ctx, nil)
	if err != nil {
		return nil, err
	}
	swept := make([]SweptVolume, 0, len(list))
	var failures []error
	for _, v := range list {
		s := SweptVolume{Volume: v}
		s.Reason, s.Removed = judgeVolume(v, home, host, o.Objects)
		if s.Removed && o.Remove {
			if err := removeVolume(ctx, home, engine, v); errors.Is(err, docker.ErrVolumeInUse) {
				s.Removed, s.Reason = false, docker.ErrVolumeInUse.Error()
			} else if err != nil {
				s.Removed, s.Reason = false, err.Error()
				failures = append(failures, err)
			}
		}
		swept = append(swept, s)
	}
	return swept, errors.Join(failures...)
}

// judgeVolume reports whether nothing needs a volume any more. A session's directory is made before
// its volumes, and not made again after it was removed. So if the volume exists and the directory
// does not, the session is gone.
func judgeVolume(v docker.Volume, home, host string, objects bool) (reason string, gone bool) {
	if reason = foreign(v, home, host); reason != "" {
		return reason, false
	}
	if v.Labels[docker.LabelObjects] != "" {
		return judgeObjects(v, home, objects)
	}
	id := v.Labels[LabelSession]
	switch _, err := os.Lstat(LayoutOf(home, id).Dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "session " + ShortID(id) + " is gone", true
	case err != nil:
		return "session " + ShortID(id) + " could not be examined: " + text.OneLine(err.Error(), 200), false
	}
	return "session " + ShortID(id) + " is kept", false
}

// foreign says where a volume belongs if it does not belong to this state directory; else it returns
// "".
func foreign(v docker.Volume, home, host string) string {
	if theirs := v.Labels[docker.LabelHost]; !machine.Same(theirs, host) {
		return fmt.Sprintf("the volume belongs to the machine %q", text.OneLine(theirs, 100))
	}
	id, ours := v.Labels[LabelSession], v.Labels[LabelHome] == home
	if v.Labels[docker.LabelObjects] == "" {
		ours = ValidID(id) && v.Labels[docker.LabelLease] == LayoutOf(home, id).Lock()
	}
	if !ours {
		return "the volume belongs to another state directory"
	}
	return ""
}

// VolumesSize returns the size of an engine's volumes of this state directory, as far as the engine
// reports sizes. ok is false if it reports none.
func VolumesSize(ctx context.Context, home string, engine *docker.Client) (bytes int64, ok bool, err error) {
	host, err := machine.Label()
	if err != nil {
		return 0, false, fmt.Errorf("measure volumes: %w", err)
	}
	list, err := engine.Volumes(ctx, nil)
	list = slices.DeleteFunc(list, func(v docker.Volume) bool { return foreign(v, home, host) != "" })
	if err != nil || len(list) == 0 {
		return 0, false, err
	}
	sizes, err := engine.VolumeSizes(ctx)
	for _, v := range list {
		size, known := sizes[v.Name]
		bytes, ok = bytes+size, ok || known
	}
	return bytes, ok, err
}

// judgeObjects is judgeVolume for a volume with the objects of a repository.
func judgeObjects(v docker.Volume, home string, all bool) (reason string, gone bool) {
	used := v.CreatedAt
	if info, err := os.Lstat(objectsState(home, v.Name)); err == nil && info.ModTime().After(used) {
		used = info.ModTime()
	}
	switch {
	case all:
		return "the objects are sent again when they are needed", true
	case used.IsZero():
		return "the time of the last use is unknown", false
	case time.Since(used) > objectsKept:
		return "the volume was not used for 30 days", true
	}
	return "the volume was last used on " + used.Local().Format(time.DateOnly), false
}

// removeVolume removes a volume, and before that the file about the objects in it.
func removeVolume(ctx context.Context, home string, engine *docker.Client, v docker.Volume) error {
	if v.Labels[docker.LabelObjects] != "" {
		if err := os.Remove(objectsState(home, v.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove volume %s: %w", v.Name, err)
		}
	}
	return engine.RemoveVolume(ctx, v.Name)
}

// NoteVolumes notes that the session has volumes on the engine at an address. It is called before
// they are made, so that Remove finds them.
func (l Layout) NoteVolumes(engine string) error {
	return fault.Wrap("note where the session's volumes are", l.volumes().add(engine), "")
}

// volumes returns the engines that have volumes of the session.
func (l Layout) volumes() engines { return engines(filepath.Join(l.Dir, "volumes")) }

// NoteAway notes that the session's container or its volumes on the engine at an address may have
// files of the agent that are not on this machine yet. They are fetched when the session is resumed
// there.
func (l Layout) NoteAway(engine string) error {
	return fault.Wrap("note where the agent's files are", l.away().add(engine), "")
}

// NoteReturned notes that the files on the engine at an address were fetched.
func (l Layout) NoteReturned(engine string) error {
	return fault.Wrap("note where the agent's files are", l.away().remove(engine), "")
}

// away returns the engines that may have such files.
func (l Layout) away() engines { return engines(filepath.Join(l.Dir, "away")) }

// Away returns the addresses of the engines from which the agent's files were not fetched yet. It
// returns none if the note cannot be read, but HasAway returns true then.
func (l Layout) Away() []string {
	all, err := l.away().all()
	if err != nil {
		return nil
	}
	return all
}

// HasAway reports whether there is an engine from which the agent's files were not fetched yet.
func (l Layout) HasAway() bool {
	_, err := os.Lstat(string(l.away()))
	return !errors.Is(err, fs.ErrNotExist)
}

// engines is the path of a file with the addresses of engines, one a line. It exists while it has
// one.
type engines string

func (e engines) all() ([]string, error) {
	note, err := os.ReadFile(string(e))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(note)), err
}

func (e engines) add(address string) error {
	all, err := e.all()
	if err != nil || slices.Contains(all, address) {
		return err
	}
	return e.write(append(all, address))
}

func (e engines) remove(address string) error {
	all, err := e.all()
	if err != nil || !slices.Contains(all, address) {
		return err
	}
	all = slices.DeleteFunc(all, func(one string) bool { return one == address })
	if len(all) == 0 {
		return os.Remove(string(e))
	}
	return e.write(all)
}

func (e engines) write(all []string) error {
	return wholefile.Write(string(e), []byte(strings.Join(all, "\n")+"\n"), 0o600)
}

// dropVolumes removes the volumes of a session on the engine at an address. It fails if the caller
// uses another engine.
func dropVolumes(ctx context.Context, l Layout, id ID, address string, engine func(context.Context) (*docker.Client, error)) error {
	client, err := engine(ctx)
	if err != nil {
		return err
	}
	if here := client.Endpoint().Address; here != address {
		return fmt.Errorf("the volumes are on the engine at %s, but the engine in use is at %s", address, here)
	}
	list, err := client.Volumes(ctx, map[string]string{LabelSession: id, docker.LabelLease: l.Lock()})
	if err != nil {
		return err
	}
	var failures []error
	for _, v := range list {
		failures = append(failures, client.RemoveVolume(ctx, v.Name))
	}
	return errors.Join(failures...)
}
