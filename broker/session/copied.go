package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
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

// An engine that does not see this machine's files gives a session's container volumes. The session
// keeps its directories on this machine, too, and package elsewhere keeps both equal.

// labelFiles is the label with how a container gets its files; it is missing if they are shared.
const labelFiles = "ironcurtain.files"

// errNotShared means that the engine was found not to see this machine's files. The session then
// starts again, with copies.
var errNotShared = errors.New("the engine does not see this machine's files")

// filesOf returns whether an engine's containers share this machine's files or get copies, as far as
// that is known.
func (s *Session) filesOf(engine *docker.Client) reach.Files {
	files, _ := s.deps.Config.Ways.FilesOf(engine.Endpoint().Address, engine.Info().Version)
	return files
}

// needsCopies reports whether the engine is known not to see this machine's files.
func (s *Session) needsCopies(ctx context.Context) bool {
	engine, err := s.deps.Engine(ctx)
	return err == nil && s.filesOf(engine) == reach.Copied
}

// fetchFiles fetches what the agent has written, if its files are copies. It takes at most
// fetchLimit: the agent can stop the process that sends its files, and the session's end waits for
// them.
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

// copyWorkspace copies the workspace that the person has named, if the engine does not see it. The
// copy of an earlier life is kept.
func (s *Session) copyWorkspace(ctx context.Context) error {
	if s.fixed.Origin == "" {
		if s.fixed.Worktree != nil || s.fixed.Workspace == s.layout.Sandbox() || !s.Contained() {
			return nil
		}
		engine, err := s.deps.Engine(ctx)
		if err != nil || s.filesOf(engine) != reach.Copied {
			return nil //nolint:nilerr // the start connects to the engine later, and reports the error
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
	text := "this tab works on a copy of " + s.fixed.Origin + ", because the engine does not see that directory: /land writes the changes back"
	if stored.PlainPath(s.fixed.Origin, ".git") {
		text += "; commits stay in the copy, which --worktree would bring back"
	}
	if dropped > 0 {
		text += fmt.Sprintf("; %d entries were not copied: devices, pipes, sockets, or files whose names cannot be copied", dropped)
	}
	s.notice(false, text)
	return nil
}

// openElsewhere prepares the synchronization of the session's directories with the container.
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
	stack.push("disconnect from the container's files", func(context.Context) error { return files.Close() })
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

// elsewhereUser is the user in containers that work on copies of the files.
var elsewhereUser = inside{1000, 1000}

// fill copies the session's files to the container, before the agent starts.
func (s *Session) fill(ctx context.Context, engine docker.Info) error {
	s.progress("copying files to the engine", "")
	rate, err := s.elsewhere.Fill(ctx)
	if err != nil || rate == 0 {
		return err
	}
	if err := s.deps.Config.Ways.NoteRate(engine.Endpoint, engine.Version, rate); err != nil {
		s.deps.Log.Warn("store how fast files went to the engine", "session", s.fixed.ID, "error", err)
	}
	return nil
}

// layer returns an image for containers that get no mounts from this machine. It adds to the agent's
// image the bridge, the files that are the same in all sessions, and the directories that files are
// copied to, which belong to the container's user. Files that differ by session are links into the
// orientation directory.
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

// tmpfs returns the container's directories in memory: those that only the host writes to, and
// root's home if the worktree borrows objects from below it, because the image lets only root enter
// that directory.
func (s *Session) tmpfs() []docker.Tmpfs {
	all := []docker.Tmpfs{{Target: agent.Orientation}, {Target: agent.Attachments}}
	for _, dir := range s.borrowed() {
		if strings.HasPrefix(dir, rootsHome+"/") {
			all = append(all, docker.Tmpfs{Target: rootsHome, Mode: 0o755})
		}
	}
	return all
}

// makeVolumes creates the session's volumes that are missing. For each it deletes the notes of the
// state that both sides had in common, because a new volume is empty.
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

// withBorrowed adds the volume of the objects that the session's worktree borrows.
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

// fetchLimit is how long fetching the agent's files may take when the session ends. The rest is
// fetched when the session is resumed.
const fetchLimit = 22 * time.Second
