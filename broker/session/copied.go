package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/embedded"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/elsewhere"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// On an engine that does not see this machine's files, a session's container has volumes, and
// this machine keeps the session's directories beside them (package elsewhere).

// labelFiles is the label of a container whose files are copies.
const labelFiles = "ironcurtain.files"

// errNotShared means that an engine turned out not to see this machine's files. The session is
// started again, with copies.
var errNotShared = errors.New("the engine does not see this machine's files")

// filesOf decides whether an engine sees this machine's files, as far as that is known.
func (s *Session) filesOf(engine *docker.Client) reach.Files {
	files, _ := s.deps.Config.Ways.FilesOf(engine.Endpoint().Address, engine.Info().Version)
	return files
}

// needsCopies reports whether the engine is known by now not to see this machine's files.
func (s *Session) needsCopies(ctx context.Context) bool {
	engine, err := s.deps.Engine(ctx)
	return err == nil && s.filesOf(engine) == reach.Copied
}

// fetchFiles brings here what the agent has written, where its files are copies. It takes at most fetchLimit,
// because the agent can stop what serves its files, and the session's end waits for this.
func (s *Session) fetchFiles(ctx context.Context) error {
	s.mu.Lock()
	files := s.elsewhere
	s.mu.Unlock()
	if files == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	return files.Bring(ctx)
}

// copyWorkspace gives the session a copy of the workspace that a person has named, where the
// engine does not see that. It keeps the copy of an earlier life.
func (s *Session) copyWorkspace(ctx context.Context) error {
	if s.fixed.Origin == "" {
		if s.fixed.Worktree != nil || s.fixed.Workspace == s.layout.Sandbox() || !s.Contained() {
			return nil
		}
		engine, err := s.deps.Engine(ctx)
		if err != nil || s.filesOf(engine) != reach.Copied {
			return nil //nolint:nilerr // the start comes to it, and says more
		}
		s.mu.Lock()
		s.fixed.Origin, s.fixed.Workspace = s.fixed.Workspace, s.layout.Copy()
		s.mu.Unlock()
	}
	if copies.Made(s.layout.CopyNote()) {
		return nil
	}
	s.progress("copying the workspace", s.fixed.Origin)
	dropped, err := copies.Make(ctx, s.fixed.Origin, s.layout.Copy(), s.layout.CopyNote())
	if err != nil {
		return err
	}
	text := "this tab works on a copy of " + s.fixed.Origin + ", because the engine does not see that: /land brings back what changes"
	if stored.PlainPath(s.fixed.Origin, ".git") {
		text += "; commits stay in the copy, which --worktree would bring back"
	}
	if dropped > 0 {
		text += fmt.Sprintf("; it lacks %d devices, pipes, sockets, or names that cannot be carried", dropped)
	}
	s.notice(false, text)
	return nil
}

// openElsewhere prepares the session's directories for a container that does not see them.
func (s *Session) openElsewhere(stack *teardown, engine *docker.Client) error {
	var fixed []string
	if s.fixed.Workspace != s.layout.Sandbox() {
		fixed, _ = s.guarded()
	}
	files, err := elsewhere.Open(elsewhere.Options{
		Dirs: elsewhere.Dirs{
			Home: s.layout.Home(), Workspace: s.fixed.Workspace,
			Orientation: s.layout.Orientation(), Attachments: s.layout.Attachments(),
			Notes: s.layout.Dir, Engine: engine.Endpoint().Address, Fixed: fixed,
		},
		Ours:    func(name string) bool { return s.written[name] },
		Connect: s.stream.OpenFiles,
		Tell:    func(text string) { s.notice(false, text) },
	})
	if err != nil {
		return err
	}
	stack.push("let go of the files elsewhere", func(context.Context) error { return files.Close() })
	s.mu.Lock()
	s.elsewhere = files
	s.mu.Unlock()
	return nil
}

// startCopied starts the agent in a container that gets copies of the session's files.
func (s *Session) startCopied(ctx context.Context, stack *teardown, log *audit.Log, engine *docker.Client, image string) (program, error) {
	s.setInside(elsewhereUser)
	volumes, err := s.makeVolumes(ctx, engine)
	if err != nil {
		return nil, err
	}
	s.openStream(stack)
	if err := s.openElsewhere(stack, engine); err != nil {
		return nil, err
	}
	launch, err := s.openProxies(ctx, stack, log, engine)
	if err != nil {
		return nil, err
	}
	if image, err = s.layer(ctx, engine, image); err != nil {
		return nil, err
	}
	if err := s.fillObjects(ctx, engine, image); err != nil {
		return nil, err
	}
	spec := s.spec(image, launch)
	spec.Labels[labelFiles], spec.Tmpfs = string(reach.Copied), s.tmpfs()
	if spec.Volumes, err = s.withBorrowed(engine, volumes); err != nil {
		return nil, err
	}
	if err := s.layout.NoteAway(engine.Endpoint().Address); err != nil {
		return nil, err
	}
	s.fresh = true
	return s.startByStream(ctx, engine, spec)
}

// elsewhereUser is the user in containers that have volumes of their own.
var elsewhereUser = inside{1000, 1000}

// fill takes the session's files to the engine's container, before its agent begins.
func (s *Session) fill(ctx context.Context, engine docker.Info) error {
	s.progress("copying files to the engine", "")
	rate, err := s.elsewhere.Fill(ctx)
	if err != nil || rate == 0 {
		return err
	}
	if err := s.deps.Config.Ways.NoteRate(engine.Endpoint, engine.Version, rate); err != nil {
		s.deps.Log.Warn("how fast files went to the engine is not kept", "session", s.fixed.ID, "error", err)
	}
	return nil
}

// layer makes the image with which a container needs no file of this machine: the bridge and
// what is the same in all containers are in it, and where files arrive there are directories
// of the container's user. What differs from session to session is reached by links.
func (s *Session) layer(ctx context.Context, engine *docker.Client, image string) (string, error) {
	program, err := embedded.Install(s.deps.Config.CacheDir, engine.Info().Architecture)
	if err != nil {
		return "", err
	}
	bridge, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	files := []docker.LayerFile{
		{Path: agent.Bridge, Data: bridge, Mode: 0o755},
		{Path: agent.CABundle, Link: path.Join(agent.Orientation, caFile)},
	}
	for _, m := range s.tmpfs() {
		files = append(files, m.MountPoint())
	}
	for _, dir := range []string{agent.Home, agent.Workspace, agent.Objects} {
		files = append(files, docker.LayerFile{Path: dir, Dir: true, Mode: 0o755, UID: s.inside.uid, GID: s.inside.gid})
	}
	for _, f := range agent.Accounts(s.inside.uid, s.inside.gid) {
		files = append(files, docker.LayerFile{Path: "/etc/" + f.Path, Data: f.Data, Mode: 0o644})
	}
	for _, f := range s.registries.SystemFiles() {
		if f.Target != "" {
			files = append(files, docker.LayerFile{Path: f.Target, Link: path.Join(agent.Orientation, f.Path)})
		}
	}
	return engine.EnsureLayer(ctx, image, docker.Layer{Files: files}, docker.BuildOptions{CacheDir: s.deps.Config.CacheDir})
}

// sent are the directories of a container that have only what is sent there, and the one that stands in the
// way of what the worktree borrows: only root can go on to a directory below root's home.
func (s *Session) tmpfs() []docker.Tmpfs {
	all := []docker.Tmpfs{{Target: agent.Orientation}, {Target: agent.Attachments}}
	for _, dir := range s.borrowed() {
		if strings.HasPrefix(dir, rootsHome+"/") {
			all = append(all, docker.Tmpfs{Target: rootsHome, Mode: 0o755})
		}
	}
	return all
}

// makeVolumes makes what of the session's volumes is missing. What both sides have agreed on is forgotten
// with a volume.
func (s *Session) makeVolumes(ctx context.Context, engine *docker.Client) ([]docker.VolumeMount, error) {
	if err := s.layout.NoteVolumes(engine.Endpoint().Address); err != nil {
		return nil, err
	}
	there, err := engine.Volumes(ctx, map[string]string{stored.LabelSession: s.fixed.ID})
	if err != nil {
		return nil, err
	}
	volumes := []docker.VolumeMount{
		{Name: s.containerName() + "-home", Target: agent.Home},
		{Name: s.containerName() + "-workspace", Target: agent.Workspace},
	}
	for _, v := range volumes {
		if slices.ContainsFunc(there, func(old docker.Volume) bool { return old.Name == v.Name }) {
			continue
		}
		if err := errors.Join(elsewhere.Forget(s.layout.Dir, engine.Endpoint().Address), engine.CreateVolume(ctx, v.Name, s.labels())); err != nil {
			return nil, err
		}
	}
	return volumes, nil
}

// withBorrowed adds the volume of what the session's worktree borrows.
func (s *Session) withBorrowed(engine *docker.Client, volumes []docker.VolumeMount) ([]docker.VolumeMount, error) {
	for _, dir := range s.borrowed() {
		o, err := s.objects(engine)
		if err != nil {
			return nil, err
		}
		volumes = append(volumes, docker.VolumeMount{Name: o.Volume, Target: dir, ReadOnly: true})
	}
	return volumes, nil
}

// fetchLimit is how long the files of an agent that ends may take to come here. The rest comes when the
// session is resumed.
const fetchLimit = 22 * time.Second

// hangUpLimit is how long such an agent may take to end after its terminal was hung up. What it has written
// by then is brought.
const hangUpLimit = 3 * time.Second

// overStream is an agent that is reached over a stream. Where its files are copies, they are
// brought here before it is let go.
type overStream struct {
	*reach.Stream
	cols, rows int           // of the terminal before the agent was taken back; 0: nobody knows
	fetchOnce  func() error  // fetches the files for the last time; nil: the files are shared
	ended      chan struct{} // closed when the agent has ended; nil likewise
	watching   sync.WaitGroup
}

// reached returns the agent that the session's stream has reached.
func (s *Session) newOverStream(ctx context.Context, engine *docker.Client) *overStream {
	s.SetFar(engineHost(engine.Endpoint().Address), s.elsewhere != nil, s.stream)
	o := &overStream{Stream: s.stream}
	if s.elsewhere == nil {
		return o
	}
	o.fetchOnce = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
		defer cancel()
		return s.fetchLast(ctx, engine.Endpoint().Address)
	})
	o.ended = make(chan struct{})
	o.watching.Go(func() {
		if o.AwaitExit() {
			close(o.ended)
			_ = o.fetchOnce()
		}
	})
	return o
}

// fetchLast brings the files of an agent here that has ended, or is to end, from the engine at an address.
func (s *Session) fetchLast(ctx context.Context, engine string) error {
	err := s.elsewhere.Finish(ctx)
	if err == nil {
		err = s.layout.NoteReturned(engine)
	}
	if err != nil {
		s.notice(true, "not all that the agent has written has come to this machine: "+describe(err))
	}
	return err
}

// FormerSize returns the size of the terminal before the agent was taken back; 0: nobody knows.
func (o *overStream) FormerSize() (cols, rows int) { return o.cols, o.rows }

// hangUp lets the agent save what it has to save, before its files are brought here.
func (o *overStream) hangUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hangUpLimit)
	defer cancel()
	select {
	case <-o.ended:
		return
	default:
	}
	if o.HangUp(ctx) != nil {
		return // the engine is away, or the container is gone
	}
	select {
	case <-o.ended:
	case <-ctx.Done():
	}
}

// fetchLast ends the agent and brings its files here, where they are copies. It does nothing the second time.
func (o *overStream) fetchLast(ctx context.Context) {
	if o.fetchOnce != nil {
		o.hangUp(ctx)
		_ = o.fetchOnce() // it has told what did not come
	}
}

// Remove ends the agent, brings its files here and removes its container. What of the files does not
// come, the session tells at its end: it stays in volumes, and nothing is left to be removed.
func (o *overStream) Remove(ctx context.Context) error {
	o.fetchLast(ctx)
	err := o.Stream.Remove(ctx)
	o.watching.Wait()
	return err
}

// Close lets go of the agent, which goes on.
func (o *overStream) Close() error {
	err := o.Stream.Close()
	o.watching.Wait()
	return err
}
