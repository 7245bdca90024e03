package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Cache is a directory of mirrors.
type Cache struct{ Dir string }

// Path is the path of a remote's mirror, whether that exists or not.
func (c Cache) Path(remote gitx.Address) string {
	sum := sha256.Sum256([]byte(remote.String()))
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:16])+".git")
}

// Mirror is the mirror of a remote, held by the caller until Release.
type Mirror struct {
	Dir    string // a bare repository
	Branch string // the requested one, or the remote's default branch
	Commit string // of that branch

	remote gitx.Address
	tell   Progress
	login  *gitauth.Credential // nil until the remote requires one
	lock   *flock.Flock
}

// Fetch makes or updates the mirror of a remote, and holds it. An empty branch means the remote's
// default branch.
func (c Cache) Fetch(ctx context.Context, remote gitx.Address, branch string, tell Progress) (*Mirror, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fault.Wrap("make the cache of repositories", err, "make the directory writable")
	}
	m := &Mirror{Dir: c.Path(remote), remote: remote, tell: tell}
	m.lock = flock.New(m.Dir + ".lock")
	if err := m.take(ctx); err != nil {
		return nil, errors.Join(err, m.lock.Close())
	}
	if err := m.fetch(ctx, branch); err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}

// take locks the mirror.
func (m *Mirror) take(ctx context.Context) error {
	got, err := m.lock.TryLock()
	if err == nil && !got {
		if m.tell != nil {
			m.tell("another tab is fetching from it; waiting", false)
		}
		_, err = m.lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("lock the mirror of %s: %w", m.remote, err)
	}
	return nil
}

// Release unlocks the mirror.
func (m *Mirror) Release() error { return m.lock.Close() }

func (m *Mirror) fetch(ctx context.Context, branch string) error {
	if err := errors.Join(dirtree.Remove(ctx, m.fresh()), m.clear(ctx)); err != nil {
		return fmt.Errorf("clear the mirror of %s: %w", m.remote, err)
	}
	var err error
	if m.Branch, err = m.findBranch(ctx, branch); err != nil {
		return err
	}
	if err = m.update(ctx); err != nil {
		return err
	}
	m.Commit, err = m.local(ctx, "rev-parse", "--verify", "--quiet", "refs/remotes/origin/"+m.Branch+"^{commit}")
	if err != nil {
		return refusal(m.remote, "try again", "branch %s is gone, or does not name a commit", m.Branch)
	}
	return nil
}

// update makes the mirror, or fetches what is new, and repairs a damaged mirror.
func (m *Mirror) update(ctx context.Context) error {
	if !m.complete() {
		if err := dirtree.Remove(ctx, m.Dir); err != nil {
			return fmt.Errorf("remove an incomplete mirror: %w", err)
		}
		if err := m.rebuild(ctx); err != nil {
			return err
		}
		return os.Rename(m.fresh(), m.Dir)
	}
	err := m.fetchInto(ctx, m.Dir)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if repaired, repairErr := m.Repair(ctx); repaired || repairErr != nil {
		return repairErr
	}
	return errors.Join(err, m.clear(ctx))
}

// complete reports whether there is a mirror, even if it is damaged.
func (m *Mirror) complete() bool {
	for _, name := range []string{"HEAD", "config", "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(m.Dir, name)); err != nil || info.Mode()&os.ModeSymlink != 0 {
			return false
		}
	}
	return true
}

// fresh is the path of a mirror that is being made.
func (m *Mirror) fresh() string { return m.Dir + ".new" }

// rebuild makes a new mirror beside the present one.
func (m *Mirror) rebuild(ctx context.Context) error {
	err := dirtree.Remove(ctx, m.fresh())
	if err == nil {
		_, err = gitrun.Thorough.Output(ctx, maxAnswer, gitrun.Command{Args: []string{"init", "--quiet", "--bare", "--template=", "--shared=0644", m.fresh()}})
	}
	for _, setting := range [][2]string{
		{"remote.origin.url", m.remote.String()}, {"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
	} {
		if err == nil {
			_, err = gitrun.Thorough.Output(ctx, maxAnswer, gitrun.Command{Args: []string{"config", "--file", filepath.Join(m.fresh(), "config"), setting[0], setting[1]}})
		}
	}
	if errors.Is(err, gitrun.ErrNoGit) {
		return refusal(m.remote, "install git", "%w", err)
	}
	if err == nil {
		err = m.fetchInto(ctx, m.fresh())
	}
	if err != nil {
		return errors.Join(err, dirtree.Remove(context.WithoutCancel(ctx), m.fresh()))
	}
	return nil
}

// clear removes what a killed git has left in the mirror: locks, and parts of packs.
func (m *Mirror) clear(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var left []string
	err := dirtree.Walk(ctx, m.Dir, func(e *dirtree.Entry) error {
		if !e.IsDir() && (strings.HasSuffix(e.Name, ".lock") || strings.HasPrefix(e.Name, "tmp_")) {
			left = append(left, filepath.Join(m.Dir, e.Path()))
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// maxAnswer is the largest output of git, in bytes.
const maxAnswer = 64 << 10

// local runs git on the mirror without the person's configuration, and returns its output.
func (m *Mirror) local(ctx context.Context, args ...string) (string, error) {
	out, err := gitrun.Thorough.Output(ctx, maxAnswer, gitrun.Command{
		Args: args, Env: []string{"GIT_DIR=" + m.Dir}, Indexes: gitrun.Indexes(filepath.Join(m.Dir, "objects")),
	})
	return strings.TrimSpace(string(out)), err
}
