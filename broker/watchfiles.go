package broker

import (
	"io/fs"
	"os"
	"time"
)

// filesEvery is how often the workspaces and config.json are checked. A check is one
// system call each; config.json is read only when it has changed.
const filesEvery = 2 * time.Second

// watchFiles tells the person when a workspace is gone, which its agent would not notice,
// and when config.json was changed so that the next start would refuse it.
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
			b.Tell(text)
		}
		for _, s := range b.live() {
			s.CheckWorkspace()
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

// stat returns the file's information, or nil when there is no such file.
func (w *configWatch) stat() fs.FileInfo {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil
	}
	return info
}

// look returns what to tell the person about the file, usually "".
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
