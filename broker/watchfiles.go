package broker

import (
	"io/fs"
	"os"
	"time"
)

// filesEvery is how often the workspaces and config.json are checked. A check is one
// system call each; config.json is read only when it has changed.
const filesEvery = 2 * time.Second

// watchFiles tells the person when a workspace is gone, which its agent would not notice, and when
// a changed config.json is refused. It also updates the round trips that tabs show for containers
// elsewhere.
func (b *Broker) watchFiles() {
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	config := configWatch{path: b.config.ConfigFile, check: b.config.CheckConfig}
	config.seen = stateOf(config.path)
	for {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return
		}
		switch text := config.look(); {
		case config.broken && text != "":
			b.tellRefused(text)
		case text != "":
			b.Tell(text)
		}
		for _, s := range b.live() {
			s.CheckWorkspace()
			s.CheckFar(time.Now())
		}
	}
}

// configWatch notices when config.json changes, and checks it then.
type configWatch struct {
	path   string
	check  func() error
	seen   fs.FileInfo // nil while there is no such file
	broken bool
}

// look returns what to tell the person about the file, usually "".
func (w *configWatch) look() string {
	if w.check == nil {
		return ""
	}
	now := stateOf(w.path)
	if sameState(now, w.seen) {
		return ""
	}
	w.seen = now
	err, before := w.check(), w.broken
	w.broken = err != nil
	switch {
	case err != nil:
		return "config.json was changed and is refused; the former settings stay in use: " + err.Error()
	case before:
		return "config.json is valid again"
	}
	return ""
}

// stateOf returns what changes when a file does; nil: there is no such file.
func stateOf(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

func sameState(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
