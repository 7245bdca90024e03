package broker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// filesEvery is how often the workspaces and config.json are looked at: one call of the
// system each, and config.json is read only when it is another one.
const filesEvery = 2 * time.Second

// workspaceGone is what a tab says all the time while its workspace is not there.
const workspaceGone = "the workspace is gone"

// watchFiles tells the person when a workspace is not there any more, which its agent
// would not notice, and when config.json has become one that the next start refuses.
func (b *Broker) watchFiles() {
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	config := configWatch{path: b.config.ConfigFile, check: b.config.CheckConfig}
	config.seen = config.stat()
	for {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return
		}
		if text := config.look(); text != "" {
			b.hub.publish(Event{Kind: EventNotice, Notice: &Notice{Urgent: true, Text: text}})
		}
		for _, s := range b.live() {
			s.lookAtWorkspace()
		}
	}
}

// lookAtWorkspace tells when the workspace is not the directory that it was at the first
// look, and when it is again. What cannot be looked at is not called gone.
func (s *session) lookAtWorkspace() {
	info, err := os.Stat(s.fixed.Workspace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return
	}
	// Asked for behind the look: what is taken down has ended before.
	if state := s.snapshot().State; state == StateStarting || state == StateDead || state == StateClosed {
		return
	}
	s.mu.Lock()
	if s.workspace == nil {
		s.workspace = info
	}
	gone := err != nil || !os.SameFile(info, s.workspace)
	same := gone == s.adrift
	s.adrift = gone
	s.mu.Unlock()
	switch {
	case same:
	case gone:
		s.announce()
		s.notice(true, fmt.Sprintf("the workspace %s was deleted, moved or replaced: what the agent writes does not arrive there; put it back, or /close the tab", s.fixed.Workspace))
	default:
		s.announce()
		s.notice(false, "the workspace is back")
	}
}

// configWatch notices when config.json changes and what is wrong with it then.
type configWatch struct {
	path   string
	check  func() error
	seen   fs.FileInfo // nil while there is no such file
	broken bool
}

func (w *configWatch) stat() fs.FileInfo {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil
	}
	return info
}

// look is what to tell the person, usually nothing.
func (w *configWatch) look() string {
	if w.check == nil {
		return ""
	}
	now := w.stat()
	if now == nil && w.seen == nil ||
		now != nil && w.seen != nil && os.SameFile(now, w.seen) && now.ModTime().Equal(w.seen.ModTime()) && now.Size() == w.seen.Size() {
		return ""
	}
	w.seen = now
	err, before := w.check(), w.broken
	w.broken = err != nil
	switch {
	case err != nil:
		return "config.json was changed, and the next start will refuse it: " + err.Error()
	case before:
		return "config.json is right again"
	}
	return ""
}
