// Package stored manages the directories of sessions. Each session has a directory for as long as
// it can be resumed, with its record, its waiting calls and its files, and another one below run/
// while it runs.
//
// A running session makes and fills these directories. Other code uses this package to list, find
// and remove sessions, and to remove what a killed process has left behind. A directory belongs to
// the process that has its lease.
package stored

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

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

// sandboxName is the name of a workspace that is made for a session.
const sandboxName = "sandbox"

// copyName is the name of a workspace that is a copy of the person's directory.
const copyName = "copy"

// Layout names the files of one session on the host. "State on disk" in ARCHITECTURE.md lists them
// all. Dir is never mounted as a whole, because it contains the audit.
type Layout struct {
	Dir string // sessions/{id}
	Run string // run/{id12}
}

// NewID draws the id of a new session.
func NewID() (ID, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("draw a session id: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40 // a version 4 UUID, because agents use it as their conversation's id
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return ID(s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]), nil
}

// LayoutOf names the files of the session with an id below a state directory.
func LayoutOf(home string, id ID) Layout {
	short := []byte(id)
	short = append(short[:8:8], short[9:13]...)
	return Layout{
		Dir: filepath.Join(home, "sessions", id),
		Run: filepath.Join(home, "run", string(short)),
	}
}

// Home is the agent's home.
func (l Layout) Home() string { return filepath.Join(l.Dir, "home") }

// Sandbox is the workspace of a session for which the person has named none.
func (l Layout) Sandbox() string { return filepath.Join(l.Dir, sandboxName) }

// Copy is the workspace of a session that works in a copy of the person's directory.
func (l Layout) Copy() string { return filepath.Join(l.Dir, copyName) }

// CopyNote is the file about what the copy and the person's directory have in common.
func (l Layout) CopyNote() string { return filepath.Join(l.Dir, "copy.note") }

// Unlanded is the file about what in the copy was not landed when the session ended, in words.
func (l Layout) Unlanded() string { return filepath.Join(l.Dir, "unlanded") }

// Orientation is the directory with the files that tell the agent about its surroundings.
func (l Layout) Orientation() string { return filepath.Join(l.Dir, "orientation") }

// Attachments is the directory with the files that the person has attached.
func (l Layout) Attachments() string { return filepath.Join(l.Dir, "attachments") }

// Audit is the session's record of decisions.
func (l Layout) Audit() string { return filepath.Join(l.Dir, "audit.jsonl") }

// Remotes is the file with the remotes that the workspace had before the agent started.
func (l Layout) Remotes() string { return filepath.Join(l.Dir, "remotes.json") }

// Obeyed is the file with what programs would run in the workspace when the session began.
func (l Layout) Obeyed() string { return filepath.Join(l.Dir, "obeyed.json") }

// AutoApprovals is the log of automatic approvals.
func (l Layout) AutoApprovals() string { return filepath.Join(l.Dir, "auto-approve.jsonl") }

// Turns is the transcript of the tasks of a session without a terminal.
func (l Layout) Turns() string { return filepath.Join(l.Dir, "turns.jsonl") }

// Programs is the file with what the agent's programs store for the next one.
func (l Layout) Programs() string { return filepath.Join(l.Dir, "programs.json") }

// Journals is the directory with the journals of the agent's programs that wait for a person.
func (l Layout) Journals() string { return filepath.Join(l.Dir, "journals") }

// Record is the file that describes the session, for listing and resuming.
func (l Layout) Record() string { return filepath.Join(l.Dir, "session.json") }

// Budget is the file with what the session has used of its model.
func (l Layout) Budget() string { return filepath.Join(l.Dir, "budget.json") }

// Grants is the file with the session's grants, while it has any.
func (l Layout) Grants() string { return filepath.Join(l.Dir, "grants.json") }

// Paused exists while the session is paused after a leak.
func (l Layout) Paused() string { return filepath.Join(l.Dir, "paused") }

// Size is the file with the last size of the agent's terminal: columns and rows.
func (l Layout) Size() string { return filepath.Join(l.Dir, "size") }

// Name is the file with the name that a person has given the session's tab.
func (l Layout) Name() string { return filepath.Join(l.Dir, "name") }

// Unsettled exists from the making of the session's worktree until that was settled.
func (l Layout) Unsettled() string { return filepath.Join(l.Dir, "unsettled") }

// Lock is locked while a process owns the session.
func (l Layout) Lock() string { return filepath.Join(l.Dir, leaseName) }

// Waiting is the directory with the calls that wait for a person.
func (l Layout) Waiting() string { return filepath.Join(l.Dir, waitingName) }

// Scratch is the link to the temporary directory of the session's sandboxes.
func (l Layout) Scratch() string { return filepath.Join(l.Run, "scratch") }

// Stages is the directory for the stages of tool calls.
func (l Layout) Stages() string { return filepath.Join(l.Run, "stages") }

// Sockets is the directory of the sockets.
func (l Layout) Sockets() string { return filepath.Join(l.Run, "sockets") }

// ToolSocket is the socket of the tools.
func (l Layout) ToolSocket() string { return filepath.Join(l.Sockets(), "proxy.sock") }

// PortsSocket is the socket for connections to ports of the container.
func (l Layout) PortsSocket() string { return filepath.Join(l.Sockets(), "ports.sock") }

// ReportSocket is the socket for the container's report before its agent starts.
func (l Layout) ReportSocket() string { return filepath.Join(l.Sockets(), "report.sock") }

// WaitingCall is the file of one waiting call.
func (l Layout) WaitingCall(id string) string { return filepath.Join(l.Waiting(), id+".json") }

// WaitingCalls are the files of all waiting calls.
func (l Layout) WaitingCalls() []string {
	found, err := filepath.Glob(filepath.Join(l.Waiting(), "*.json"))
	if err != nil {
		return nil // cannot happen: the pattern is well-formed
	}
	return found
}

// ProxySocket is the socket of the model.
func (l Layout) ProxySocket() string { return filepath.Join(l.Sockets(), "mitm-proxy.sock") }

// AgentDirs returns patterns of the directories below a state directory that agents can
// write to. The patterns contain no links.
func AgentDirs(home string) []string {
	home = RealPath(home)
	all := Layout{Dir: filepath.Join(home, "sessions", "*")}
	return []string{all.Home(), all.Sandbox(), all.Copy(), all.Worktree().Dir, all.Worktree().Gone()}
}

// Version is the version of the files in a state directory. It is raised when an older program would
// misunderstand them.
const Version = 1

// CheckHome returns an error if the paths of sockets below a state directory would be too long for
// a socket address.
func CheckHome(home string) error {
	return LayoutOf(home, "00000000-0000-0000-0000-000000000000").Fits()
}

// Fits returns an error if the longest path of a socket is too long for a socket address.
func (l Layout) Fits() error {
	if n := len(l.ProxySocket()); n > docker.MaxSocketPath {
		return fault.New("set IRONCURTAIN_HOME to a shorter path",
			"socket path %s is %d bytes long, the system allows %d", l.ProxySocket(), n, docker.MaxSocketPath)
	}
	return nil
}

// Make creates the directories, and fails if anything else is at their paths. Directories that the
// agent writes to belong to owner.
func (l Layout) Make(owner User) error {
	if err := l.Fits(); err != nil {
		return err
	}
	for _, dir := range []string{l.Dir, l.Orientation(), l.Attachments(), l.Run} {
		if err := PrivateDir(dir); err != nil {
			return err
		}
	}
	for _, dir := range []string{l.Home(), l.Sandbox(), l.Sockets()} {
		if err := PrivateDir(dir); err != nil {
			return err
		}
		if err := owner.Own(dir); err != nil {
			return err
		}
	}
	// The container's user must be able to read these directories.
	for _, dir := range []string{l.Orientation(), l.Attachments()} {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // reachable only through a private parent
			return err
		}
	}
	return nil
}

// Remove removes the files that only a running session needs.
func (l Layout) Remove(ctx context.Context) error { return dirtree.Remove(ctx, l.Run) }

// PrivateDir makes dir, with mode 0700, unless it exists, and fails if it is a link or not a directory.
func PrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	if !info.IsDir() {
		return fault.New("remove "+dir, "%s is not a directory", dir)
	}
	return nil
}

// Write writes an agent's files to where its container will see them. The agent may have left links
// in its home; Write does not follow them out of the home.
func (l Layout) Write(ctx context.Context, files []agent.File, owner User) error {
	for _, f := range files {
		base, holder := l.Home(), owner
		if f.Orientation {
			base, holder = l.Orientation(), User{os.Geteuid(), os.Getegid()}
		}
		if err := writeBelow(ctx, base, f, holder); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

// isForeign reports whether something else than f is at f's path: it does not begin with f's first
// line. The agent may have put anything there, so isForeign never blocks.
func isForeign(root *os.Root, f agent.File) bool {
	info, err := root.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || !info.Mode().IsRegular() {
		return true
	}
	there, err := root.OpenFile(f.Path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return true
	}
	defer there.Close()
	first, _, _ := bytes.Cut(f.Data, []byte("\n"))
	begins := make([]byte, len(first))
	_, err = io.ReadFull(there, begins)
	return err != nil || !bytes.Equal(begins, first)
}

func writeBelow(ctx context.Context, base string, f agent.File, owner User) error {
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	if f.Keep && isForeign(root, f) {
		return nil
	}
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
