package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// file is one file to be replaced.
type file struct {
	name string
	data []byte
}

// Foreign returns the names in a directory that are not files of a policy. If there are
// such names and no policy, the directory is used for something else, which is an error.
func Foreign(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var foreign []string
	own := false
	for _, e := range entries {
		own = own || e.Name() == PolicyFile
		if !slices.Contains([]string{PolicyFile, ListsFile, AnnotationsFile, ScenariosFile}, e.Name()) {
			foreign = append(foreign, e.Name())
		}
	}
	if !own && len(foreign) > 0 {
		return foreign, fmt.Errorf("%s contains %q and no policy", dir, foreign[0])
	}
	return foreign, nil
}

// Write replaces the files of a policy directory. All new files are written and synced
// before the first one is renamed into place, and the policy is renamed last. If writing
// fails before that, nothing is changed. Write fails if the policy or the lists have
// changed since before was read.
func (r *Result) Write(dir string, a *policy.Annotations, before *Previous, now time.Time) error {
	at := now.UTC().Format(time.RFC3339)
	compiled, err := json.MarshalIndent(r.Policy, "", "  ")
	if err != nil {
		return err
	}
	scenarios, err := policy.EncodeScenarios(at, r.Scenarios)
	if err != nil {
		return err
	}
	var files []file
	if len(r.Lists) > 0 {
		lists, err := policy.EncodeLists(at, r.Lists)
		if err != nil {
			return err
		}
		files = append(files, file{ListsFile, lists})
	}
	files = append(files, file{ScenariosFile, scenarios}, file{AnnotationsFile, append(a.Encode(), '\n')}, file{PolicyFile, append(compiled, '\n')})
	if _, err := policy.ParseCompiled(PolicyFile, compiled); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace(dir, before.stamp, files, len(r.Lists) == 0)
}

// replace renames files into place, in order, while it holds the directory's lock.
func replace(dir, stamp string, files []file, withoutLists bool) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("%s: another process writes to it", dir)
	}
	if now, err := stampOf(dir); err != nil || now != stamp {
		return errors.Join(err, fmt.Errorf("%s was changed meanwhile", dir))
	}
	pending, err := prepared(dir, files)
	defer func() {
		for _, p := range pending {
			err = errors.Join(err, p.Cleanup()) // does nothing after a file was renamed into place
		}
	}()
	if err != nil {
		return fmt.Errorf("nothing was replaced: %w", err)
	}
	for _, p := range pending {
		if err := p.CloseAtomicallyReplace(); err != nil {
			return fmt.Errorf("not all files were replaced: %w", err)
		}
	}
	if withoutLists {
		if err := os.Remove(filepath.Join(dir, ListsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return d.Sync()
}

// prepared writes and syncs temporary files beside the files that they will replace.
func prepared(dir string, files []file) (pending []*renameio.PendingFile, err error) {
	for _, f := range files {
		p, err := renameio.NewPendingFile(filepath.Join(dir, f.name), renameio.WithTempDir(dir), renameio.IgnoreUmask(), renameio.WithStaticPermissions(0o600))
		if err != nil {
			return pending, err
		}
		pending = append(pending, p)
		if _, err := p.Write(f.data); err != nil {
			return pending, err
		}
		if err := p.Sync(); err != nil {
			return pending, err
		}
	}
	return pending, nil
}
