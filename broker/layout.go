package broker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// leaseName is the file in a session's directory that is locked while a process
// owns the session.
const leaseName = "lock"

// waitingName is the directory of a session's waiting calls.
const waitingName = "waiting"

// layout names the files of one session on the host.
//
//	sessions/{id}/home         the agent's home, kept for resuming
//	sessions/{id}/sandbox      the workspace, unless a directory was given
//	sessions/{id}/worktree     the worktree, when it has one, with worktree.git beside it
//	sessions/{id}/orientation  what the agent is told, mounted read-only
//	sessions/{id}/audit.jsonl  every decision, chained
//	sessions/{id}/budget.json  what was used of its model, and what a person added
//	sessions/{id}/obeyed.json  what programs would run of the workspace at first
//	sessions/{id}/session.json what the session is, for listing and resuming
//	sessions/{id}/waiting/     the calls that wait for a person, one file each
//	sessions/{id}/paused       there while the session is paused after a leak
//	sessions/{id}/lock         locked while a process owns the session
//	run/{id12}/sockets         proxy.sock and mitm-proxy.sock, mounted read-only
//	run/{id12}/scratch         link to the sandboxes' temporary directory
//
// The session directory itself is never mounted: it holds the audit.
type layout struct {
	dir string // sessions/{id}
	run string // run/{id12}
}

func newSessionID() (SessionID, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("draw a session id: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40 // a version 4 UUID: agents take it for their conversation's id
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return SessionID(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]), nil
}

func layoutOf(home string, id SessionID) layout {
	short := []byte(id)
	short = append(short[:8:8], short[9:13]...)
	return layout{
		dir: filepath.Join(home, "sessions", string(id)),
		run: filepath.Join(home, "run", string(short)),
	}
}

func (l layout) home() string          { return filepath.Join(l.dir, "home") }
func (l layout) sandbox() string       { return filepath.Join(l.dir, "sandbox") }
func (l layout) orientation() string   { return filepath.Join(l.dir, "orientation") }
func (l layout) audit() string         { return filepath.Join(l.dir, "audit.jsonl") }
func (l layout) remotes() string       { return filepath.Join(l.dir, "remotes.json") }
func (l layout) obeyed() string        { return filepath.Join(l.dir, "obeyed.json") }
func (l layout) autoApprovals() string { return filepath.Join(l.dir, "auto-approve.jsonl") }
func (l layout) record() string        { return filepath.Join(l.dir, "session.json") }
func (l layout) budget() string        { return filepath.Join(l.dir, "budget.json") }
func (l layout) paused() string        { return filepath.Join(l.dir, "paused") }
func (l layout) lock() string          { return filepath.Join(l.dir, leaseName) }
func (l layout) waiting() string       { return filepath.Join(l.dir, waitingName) }
func (l layout) scratch() string       { return filepath.Join(l.run, "scratch") }
func (l layout) sockets() string       { return filepath.Join(l.run, "sockets") }
func (l layout) toolSocket() string    { return filepath.Join(l.sockets(), "proxy.sock") }

// waitingCall is the file of one waiting call.
func (l layout) waitingCall(id string) string { return filepath.Join(l.waiting(), id+".json") }

// waitingCalls are the files of all of them.
func (l layout) waitingCalls() []string {
	found, err := filepath.Glob(filepath.Join(l.waiting(), "*.json"))
	if err != nil {
		return nil // the pattern is ours
	}
	return found
}
func (l layout) proxySocket() string { return filepath.Join(l.sockets(), "mitm-proxy.sock") }

// AgentDirs are the directories below a state directory that agents write, as patterns
// of paths without links.
func AgentDirs(home string) []string {
	home = realPath(home)
	all := layout{dir: filepath.Join(home, "sessions", "*")}
	return []string{all.home(), all.sandbox(), all.worktree().Dir, filepath.Join(home, "demo", "workspace")}
}

// CheckHome says whether sessions can have their sockets below that state
// directory: a socket's path must fit into its address.
func CheckHome(home string) error {
	return layoutOf(home, "00000000-0000-0000-0000-000000000000").fits()
}

// fits says whether the socket with the longest path fits.
func (l layout) fits() error {
	if n := len(l.proxySocket()); n > docker.MaxSocketPath {
		return fault.New("set IRONCURTAIN_HOME to a shorter path",
			"socket path %s is %d bytes long, the system allows %d", l.proxySocket(), n, docker.MaxSocketPath)
	}
	return nil
}

// make creates the directories; whatever stands in their way is an error.
// The ones the agent writes to belong to owner.
func (l layout) make(owner identity) error {
	if err := l.fits(); err != nil {
		return err
	}
	for _, dir := range []string{l.dir, l.orientation(), l.run} {
		if err := privateDir(dir, 0o700); err != nil {
			return err
		}
	}
	for _, dir := range []string{l.home(), l.sandbox(), l.sockets()} {
		if err := privateDir(dir, 0o700); err != nil {
			return err
		}
		if err := owner.own(dir); err != nil {
			return err
		}
	}
	// The container's user must be able to read what is mounted for it.
	return os.Chmod(l.orientation(), 0o755) //nolint:gosec // reachable only through a private parent
}

// remove deletes what only a running session needs.
func (l layout) remove(ctx context.Context) error { return dirtree.Remove(ctx, l.run) }

// privateDir makes sure that dir is a directory of ours and not a link to
// somebody else's.
func privateDir(dir string, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, mode); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if !info.IsDir() {
		return fault.New("remove it", "%s is not a directory", dir)
	}
	return nil
}

// write puts an agent's files where its container will see them. The agent
// may have left anything in its home, so nothing outside it can be reached
// through a link there.
func (l layout) write(ctx context.Context, files []agent.File, owner identity) error {
	for _, f := range files {
		base, holder := l.home(), owner
		if f.Orientation {
			base, holder = l.orientation(), identity{os.Geteuid(), os.Getegid()}
		}
		if err := writeBelow(ctx, base, f, holder); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

func writeBelow(ctx context.Context, base string, f agent.File, owner identity) error {
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	for i, c := range f.Path {
		if c != '/' {
			continue
		}
		err := root.Mkdir(f.Path[:i], 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := owner.ownIn(root, f.Path[:i]); err != nil {
			return err
		}
	}
	temporary := f.Path + ".new"
	if err := dirtree.RemoveIn(ctx, root, temporary); err != nil {
		return err
	}
	if err := root.WriteFile(temporary, f.Data, fs.FileMode(f.Mode)); err != nil {
		return err
	}
	if err := root.Chmod(temporary, fs.FileMode(f.Mode)); err != nil {
		return err
	}
	if err := owner.ownIn(root, temporary); err != nil {
		return err
	}
	return root.Rename(temporary, f.Path)
}
