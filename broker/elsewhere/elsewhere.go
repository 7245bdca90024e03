// Package elsewhere decides when the files of a session are copied to its container and back, where
// the container does not see this machine's files. Package treesync does the copying.
//
// Home and workspace exist twice: as volumes in the container, where the agent writes, and as
// directories on the host, where tools write and which previews and the policy read. Files makes the
// two equal at these moments:
//
//   - Fill, before the agent starts: sends everything to the container.
//   - Fetch, before a tool call is judged: brings what the agent has written to the host.
//   - Return, after the call and before the agent gets its answer: sends what the call has written.
//   - Bring, when a person wants to see what the agent has now.
//   - Finish, when the agent has ended: brings everything to the host. The container waits for that.
//
// So whenever one side is told of a path, both have the same file there. What the host tells the
// agent (Orientation) and what the person attaches (Attach) is only sent.
package elsewhere

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Dirs are a session's directories on the host.
type Dirs struct {
	Home        string // the agent's own
	Workspace   string
	Orientation string // what the agent is told; only sent
	Attachments string // what the person has attached; only sent
	// Notes is a directory that no container sees. It stores what both sides agreed on last.
	Notes string
	// Engine is the address of the engine that has the volumes. Each engine's volumes have notes of
	// their own.
	Engine string
	// Fixed are paths of the workspace that the agent cannot change on the host, because programs of
	// the host run or obey what is there.
	Fixed []string
}

// Options say how to reach the container.
type Options struct {
	Dirs
	Ours    func(name string) bool                      // which files of the home the host rewrites for each container
	Connect func(ctx context.Context) (net.Conn, error) // connects with the container's treesync.Server
	Tell    func(text string)                           // tells the person; returns at once
}

// Files are the trees of one session.
type Files struct {
	options Options
	trees   map[string]*treesync.Tree

	turn       *semaphore.Weighted // a lock that a context can give up waiting for: held while files are copied; guards the rest
	client     *treesync.Client
	homeSynced time.Time       // when the home was brought last
	told       map[string]bool // what the person knows of
	finished   bool
}

// The names of the trees, which the bridge knows, too.
const (
	home        = "home"
	workspace   = "workspace"
	orientation = "orientation"
	attachments = "attachments"
)

// maxHomeFile is the size of the largest file of the agent's home that is fetched. What an agent
// needs to be resumed is smaller; the caches of package managers stay in the volume.
const maxHomeFile = 16 << 20

// Forget removes the notes of an engine. It must be called when one of its volumes was made anew.
func Forget(notes, engine string) error {
	for _, tree := range []string{home, workspace} {
		if err := os.Remove(notePath(notes, engine, tree)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// notePath is the file with what was agreed about one tree.
func notePath(notes, engine, tree string) string {
	sum := sha256.Sum256([]byte(engine))
	return filepath.Join(notes, fmt.Sprintf("%s-%x.agreed", tree, sum[:4]))
}

// Open opens the directories. It does not connect yet.
func Open(o Options) (*Files, error) {
	f := &Files{options: o, turn: semaphore.NewWeighted(1), trees: map[string]*treesync.Tree{}, told: map[string]bool{}}
	for _, t := range []treesync.Options{
		{Name: orientation, Dir: o.Orientation, OneWay: true},
		{Name: attachments, Dir: o.Attachments, OneWay: true},
		{Name: home, Dir: o.Home, Note: notePath(o.Notes, o.Engine, home), Wanted: wantedOfHome, Ours: o.Ours},
		{Name: workspace, Dir: o.Workspace, Note: notePath(o.Notes, o.Engine, workspace), Fixed: o.Fixed},
	} {
		tree, err := treesync.Open(t)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("copy files to the container: %w", err), f.Close())
		}
		f.trees[t.Name] = tree
	}
	return f, nil
}

// wantedOfHome reports whether a file of the agent's home is fetched.
func wantedOfHome(name string, size int64) bool {
	if size > maxHomeFile {
		return false
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case ".cache", ".npm", ".cargo", ".rustup", "node_modules", "pkg", ".gradle", ".m2":
			return false
		}
	}
	return true
}

// Fill sends everything to the container, before its agent starts, and fetches what an earlier life
// of the session has left there. rate is its speed in bytes a second; 0 if too little was sent.
func (f *Files) Fill(ctx context.Context) (rate int64, err error) {
	began := time.Now()
	bytes, err := f.syncAll(ctx, "copy files to the container", orientation, attachments, home, workspace)
	if err == nil && bytes >= minRateBytes {
		rate = int64(float64(bytes) / time.Since(began).Seconds())
	}
	return rate, err
}

// minRateBytes is how many bytes must be sent to measure the speed.
const minRateBytes = 1 << 20

// Fetch brings what the agent has written to its workspace to the host.
func (f *Files) Fetch(ctx context.Context) error {
	_, err := f.syncAll(ctx, "bring the agent's files here", workspace)
	return err
}

// Attach sends what the person has attached.
func (f *Files) Attach(ctx context.Context) error {
	_, err := f.syncAll(ctx, "copy attached files to the container", attachments)
	return err
}

// syncAll synchronizes trees, one after the other. bytes is the size of the files that were sent.
func (f *Files) syncAll(ctx context.Context, op string, names ...string) (bytes int64, err error) {
	if err := f.lock(ctx); err != nil {
		return 0, err
	}
	defer f.turn.Release(1)
	for _, name := range names {
		report, err := f.sync(ctx, name)
		if err != nil {
			return 0, fault.Wrap(op, err, "")
		}
		bytes += report.Bytes
	}
	return bytes, nil
}

// lock waits until no files are being copied. Release f.turn afterwards.
func (f *Files) lock(ctx context.Context) error {
	return fault.Wrap("wait for other files to be copied", f.turn.Acquire(ctx, 1), "")
}

// Return sends what a call has written. note tells the agent which files both sides have changed
// meanwhile; "" if none.
func (f *Files) Return(ctx context.Context) (note string, err error) {
	if err := f.lock(ctx); err != nil {
		return "", err
	}
	defer f.turn.Release(1)
	report, err := f.sync(ctx, workspace)
	if err != nil {
		return "", fault.Wrap("copy files to the container", err, "")
	}
	if time.Since(f.homeSynced) > homeInterval {
		if _, err := f.sync(ctx, home); err != nil {
			f.tellOnce("", "the agent's home could not be copied to this machine, which has an older one until the next try: "+err.Error())
		}
	}
	return conflicts(report), nil
}

// homeInterval is the shortest time between two Syncs of the home by Return.
const homeInterval = 30 * time.Second

// Bring brings what the agent has written to its workspace and home to the host. After Finish or
// Close it does nothing.
func (f *Files) Bring(ctx context.Context) error {
	if err := f.lock(ctx); err != nil {
		return err
	}
	defer f.turn.Release(1)
	if f.finished {
		return nil
	}
	return fault.Wrap("bring the agent's files here", f.syncBoth(ctx), "")
}

// syncBoth synchronizes workspace and home. An error that both have in common is returned once.
func (f *Files) syncBoth(ctx context.Context) error {
	_, ofWork := f.sync(ctx, workspace)
	_, ofHome := f.sync(ctx, home)
	if ofWork != nil && ofHome != nil && ofWork.Error() == ofHome.Error() {
		return ofWork
	}
	return errors.Join(ofWork, ofHome)
}

// Finish brings everything to the host and disconnects, so that the container may end. It does
// nothing the second time.
func (f *Files) Finish(ctx context.Context) error {
	if err := f.lock(ctx); err != nil {
		return err
	}
	defer f.turn.Release(1)
	if f.finished {
		return nil
	}
	err := f.syncBoth(ctx)
	f.finished = true
	f.disconnect()
	if err != nil { // another try would find no container
		return &fault.Error{Op: "bring the agent's files here", Err: err, Next: "resume the session: what is missing is in its volumes, and comes then"}
	}
	return nil
}

// Close disconnects and closes the trees.
func (f *Files) Close() error {
	_ = f.turn.Acquire(context.Background(), 1) // waits for whoever copies, which has a time limit
	defer f.turn.Release(1)
	f.finished = true
	f.disconnect()
	var all []error
	for _, t := range f.trees {
		all = append(all, t.Close())
	}
	return errors.Join(all...)
}

// sync synchronizes a tree. If an older connection fails, it tries once more with a new one.
func (f *Files) sync(ctx context.Context, name string) (treesync.Report, error) {
	if f.finished {
		return treesync.Report{}, errors.New("the session has ended, and so has the connection with its container")
	}
	for fresh := false; ; {
		if f.client == nil {
			conn, err := f.options.Connect(ctx)
			if err != nil {
				return treesync.Report{}, err
			}
			f.client, fresh = treesync.NewClient(conn), true
		}
		report, err := f.trees[name].Sync(ctx, f.client)
		if err == nil {
			f.report(name, report)
			return report, nil
		}
		f.disconnect() // its state is not known
		if fresh || ctx.Err() != nil {
			return treesync.Report{}, err
		}
	}
}

// disconnect closes the connection, if there is one.
func (f *Files) disconnect() {
	if f.client != nil {
		_ = f.client.Close()
		f.client = nil
	}
}

// report tells the person what is not copied, once.
func (f *Files) report(name string, r treesync.Report) {
	if name == home {
		f.homeSynced = time.Now()
		return // what is not copied of it is not meant to be
	}
	for _, l := range r.Left {
		f.tellOnce("", fmt.Sprintf("%s is in the container only, where tools do not see it: %s", path.Join("/"+name, l.Path), l.Why))
	}
	if r.Odd > 0 {
		f.tellOnce(name+" odd", fmt.Sprintf("devices, pipes and sockets below /%s are in the container only, where tools do not see them: %d at present", name, r.Odd))
	}
	if r.Dropped > 0 {
		f.tellOnce(name+" dropped", fmt.Sprintf("set-uid, set-gid and sticky bits below /%s are not copied to this machine, nor are files whose names are too long or not UTF-8: %d at present", name, r.Dropped))
	}
}

// tellOnce tells the person something, unless it was told before. about identifies it; "" means by
// its text.
func (f *Files) tellOnce(about, text string) {
	about = cmp.Or(about, text)
	if len(f.told) < maxTold && !f.told[about] {
		f.told[about] = true
		f.options.Tell(text)
	}
}

// maxTold bounds how many things a person is told of files that are not copied.
const maxTold = 20

// conflicts tells the agent which files have two versions, or different ones on both sides; "" if
// none.
func conflicts(r treesync.Report) string {
	lines := make([]string, 0, len(r.Conflicts))
	for _, c := range r.Conflicts {
		lines = append(lines, fmt.Sprintf("%s was changed by you, too, while the call ran: your version is kept, and the call's is in %s", c.Path, c.Beside))
	}
	for _, l := range r.Left {
		if l.Hides {
			lines = append(lines, fmt.Sprintf("tools see something else at %s than you do: theirs cannot be copied to you, and yours cannot be copied to them (%s)", l.Path, l.Why))
		}
	}
	return strings.Join(lines, "\n")
}
