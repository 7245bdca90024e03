// Package elsewhere decides when the files of a session are copied to its container and back, where
// the container does not see this machine's. Package treesync does the copying.
//
// Home and workspace exist twice: as volumes in the container, where the agent writes, and as
// directories of the session on this machine, where tools write and at which previews and the policy
// look. Files makes the two equal at these moments:
//
//   - Fill, before the agent begins: everything goes there.
//   - Fetch, before a tool call is judged: what the agent has written comes here.
//   - Return, after the call and before the agent has its answer: what the call has written goes there.
//   - Bring, when a person wants to see what the agent has now.
//   - Finish, when the agent has ended: everything comes here. The container waits for that.
//
// So a path means the same file on both sides whenever one side learns of it. What the host tells
// the agent (Orientation) and what the person attaches (Attach) is only sent.
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

// Dirs are a session's directories on this machine.
type Dirs struct {
	Home        string // the agent's own
	Workspace   string
	Orientation string // what the agent is told; only sent
	Attachments string // what the person has attached; only sent
	// Notes is a directory that no container sees, for what both sides agreed on last.
	Notes string
	// Engine is the address of the engine that has the volumes: each engine's are another copy, with
	// which something else was agreed.
	Engine string
	// Fixed are paths of the workspace that the agent never changes here, because programs of this
	// machine run or obey what is there.
	Fixed []string
}

// Options say how to reach the container.
type Options struct {
	Dirs
	Ours    func(name string) bool                      // which files of the home the host writes anew for each container
	Connect func(ctx context.Context) (net.Conn, error) // opens a stream of files
	Tell    func(text string)                           // tells the person; returns at once
}

// Files are the trees of one session.
type Files struct {
	options Options
	trees   map[string]*treesync.Tree

	turn   *semaphore.Weighted // one: held while files travel; guards the rest
	client *treesync.Client
	homeAt time.Time       // when the home was brought last
	told   map[string]bool // what the person knows of
	over   bool
}

// The names of the trees, as the bridge knows them.
const (
	home        = "home"
	workspace   = "workspace"
	orientation = "orientation"
	attachments = "attachments"
)

// mostHome is the size of a file of the agent's home that is brought here. What an agent needs to
// be resumed is smaller; what package managers keep stays in the volume.
const mostHome = 16 << 20

// Forget removes what was agreed with the volumes of an engine, from the directory of the notes: one
// of them begins anew.
func Forget(notes, engine string) error {
	for _, tree := range []string{home, workspace} {
		if err := os.Remove(noteOf(notes, engine, tree)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// noteOf is the file of what was agreed on one tree.
func noteOf(notes, engine, tree string) string {
	sum := sha256.Sum256([]byte(engine))
	return filepath.Join(notes, fmt.Sprintf("%s-%x.agreed", tree, sum[:4]))
}

// Open looks at the directories and connects with nothing yet.
func Open(o Options) (*Files, error) {
	f := &Files{options: o, turn: semaphore.NewWeighted(1), trees: map[string]*treesync.Tree{}, told: map[string]bool{}}
	for _, t := range []treesync.Options{
		{Name: orientation, Dir: o.Orientation, OneWay: true},
		{Name: attachments, Dir: o.Attachments, OneWay: true},
		{Name: home, Dir: o.Home, Note: noteOf(o.Notes, o.Engine, home), Wanted: wantedOfHome, Ours: o.Ours},
		{Name: workspace, Dir: o.Workspace, Note: noteOf(o.Notes, o.Engine, workspace), Fixed: o.Fixed},
	} {
		tree, err := treesync.Open(t)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("copy files to the container: %w", err), f.Close())
		}
		f.trees[t.Name] = tree
	}
	return f, nil
}

// wantedOfHome reports whether a file of the agent's home is brought to this machine.
func wantedOfHome(name string, size int64) bool {
	if size > mostHome {
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

// Fill takes everything to the container, before its agent begins. What an earlier life of the
// session has left there and has not come here is brought. rate is how fast that was, in bytes a
// second; 0 where it was too little to tell.
func (f *Files) Fill(ctx context.Context) (rate int64, err error) {
	began := time.Now()
	bytes, err := f.each(ctx, "copy files to the container", orientation, attachments, home, workspace)
	if err == nil && bytes >= telling {
		rate = int64(float64(bytes) / time.Since(began).Seconds())
	}
	return rate, err
}

// telling is how many bytes tell how fast they were sent.
const telling = 1 << 20

// Fetch brings here what the agent has written to its workspace.
func (f *Files) Fetch(ctx context.Context) error {
	_, err := f.each(ctx, "bring the agent's files here", workspace)
	return err
}

// Attach takes there what the person has attached.
func (f *Files) Attach(ctx context.Context) error {
	_, err := f.each(ctx, "take attached files to the container", attachments)
	return err
}

// each makes both sides of trees the same, one after the other. bytes are those of the files that were
// sent.
func (f *Files) each(ctx context.Context, op string, names ...string) (bytes int64, err error) {
	if err := f.take(ctx); err != nil {
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

// take waits until no files travel.
func (f *Files) take(ctx context.Context) error {
	return fault.Wrap("wait for other files to be copied", f.turn.Acquire(ctx, 1), "")
}

// Return takes there what was written here. note says which files were changed on both sides
// meanwhile; empty: none.
func (f *Files) Return(ctx context.Context) (note string, err error) {
	if err := f.take(ctx); err != nil {
		return "", err
	}
	defer f.turn.Release(1)
	report, err := f.sync(ctx, workspace)
	if err != nil {
		return "", fault.Wrap("take files to the container", err, "")
	}
	if time.Since(f.homeAt) > homePause {
		_, err := f.sync(ctx, home)
		if err != nil {
			f.tellOnce("", "the agent's home could not be copied to this machine, where it is older until the next try: "+err.Error())
		}
	}
	return conflicts(report), nil
}

// homePause is the time between two looks at the home.
const homePause = 30 * time.Second

// Bring brings here what the agent has written to its workspace and home. Once the container has been
// let go there is nothing more to bring.
func (f *Files) Bring(ctx context.Context) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.turn.Release(1)
	if f.over {
		return nil
	}
	return fault.Wrap("bring the agent's files here", f.bring(ctx), "")
}

// bring makes both trees the same. What has kept both from coming is said once.
func (f *Files) bring(ctx context.Context) error {
	_, ofWork := f.sync(ctx, workspace)
	_, ofHome := f.sync(ctx, home)
	if ofWork != nil && ofHome != nil && ofWork.Error() == ofHome.Error() {
		return ofWork
	}
	return errors.Join(ofWork, ofHome)
}

// Finish brings everything here and lets go of the container, which may end then. It does
// nothing the second time.
func (f *Files) Finish(ctx context.Context) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.turn.Release(1)
	if f.over {
		return nil
	}
	err := f.bring(ctx)
	f.over = true
	f.drop()
	if err != nil { // another try would find no container
		return &fault.Error{Op: "bring the agent's files here", Err: err, Next: "resume the session: what is missing is in its volumes, and comes then"}
	}
	return nil
}

// Close lets go of the container and ends the trees.
func (f *Files) Close() error {
	_ = f.turn.Acquire(context.Background(), 1) // whoever has it is bounded
	defer f.turn.Release(1)
	f.over = true
	f.drop()
	var all []error
	for _, t := range f.trees {
		all = append(all, t.Close())
	}
	return errors.Join(all...)
}

// sync makes both sides of a tree the same. A connection that has ended is made again, once.
func (f *Files) sync(ctx context.Context, name string) (treesync.Report, error) {
	if f.over {
		return treesync.Report{}, errors.New("the session ends, and its container is not reached any more")
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
			f.noteReport(name, report)
			return report, nil
		}
		f.drop() // where it stands is not known
		if fresh || ctx.Err() != nil {
			return treesync.Report{}, err
		}
	}
}

// drop closes the connection.
func (f *Files) drop() {
	if f.client != nil {
		_ = f.client.Close()
		f.client = nil
	}
}

// noteReport tells the person what does not travel, once.
func (f *Files) noteReport(name string, r treesync.Report) {
	if name == home {
		f.homeAt = time.Now()
		return // what of it stays there is meant to
	}
	for _, l := range r.Left {
		f.tellOnce("", fmt.Sprintf("%s is in the container only, where tools do not see it: %s", path.Join("/"+name, l.Path), l.Why))
	}
	if r.Odd > 0 {
		f.tellOnce(name+" odd", fmt.Sprintf("devices, pipes and sockets below /%s are in the container only, where tools do not see them: %d at present", name, r.Odd))
	}
	if r.Dropped > 0 {
		f.tellOnce(name+" dropped", fmt.Sprintf("set-uid, set-gid and sticky bits below /%s do not come to this machine, nor do files with names that are too long or no UTF-8: %d at present", name, r.Dropped))
	}
}

// tellOnce tells the person something that they do not know yet: about, or where that is empty exactly this.
func (f *Files) tellOnce(about, text string) {
	about = cmp.Or(about, text)
	if len(f.told) < mostTold && !f.told[about] {
		f.told[about] = true
		f.options.Tell(text)
	}
}

// mostTold bounds what a person is told of files that do not travel.
const mostTold = 20

// conflicts says which files have two versions, or different ones on both sides; empty: none.
func conflicts(r treesync.Report) string {
	lines := make([]string, 0, len(r.Conflicts))
	for _, c := range r.Conflicts {
		lines = append(lines, fmt.Sprintf("%s was changed by you as well while the call ran: yours stays, and what the call has written is in %s", c.Path, c.Beside))
	}
	for _, l := range r.Left {
		if l.Hides {
			lines = append(lines, fmt.Sprintf("what tools see at %s is not what you have there, and does not arrive: yours stays, and tools cannot see it (%s)", l.Path, l.Why))
		}
	}
	return strings.Join(lines, "\n")
}
