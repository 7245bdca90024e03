package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// files counts the host's connections for files.
type files struct {
	mu      sync.Mutex
	open    int
	had     bool          // there has been one
	changed chan struct{} // lossy, one value: open has changed
}

func (f *files) add(n int) {
	f.mu.Lock()
	f.open += n
	f.had = true
	f.mu.Unlock()
	signal(f.changed)
}

func (f *files) state() (open int, had bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open, f.had
}

// serveFiles serves the connections for files that the host opens on a link, until the link ends.
// Package mux limits how many are open at once.
func (k *keeper) serveFiles(ctx context.Context, session *mux.Session) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		_, conn, err := session.Accept()
		if err != nil {
			return
		}
		if k.Files == nil {
			_ = conn.Close()
			continue
		}
		k.files.add(1)
		serving.Go(func() {
			defer k.files.add(-1)
			defer conn.Close()
			_ = k.remove()               // the host has checked the tokens, and must not copy them
			_ = k.Files.Serve(ctx, conn) // the host notices an error, and tries again
		})
	}
}

// awaitFiles waits, after the program's end, until the host has fetched the files and closed its
// connections for them. A host that has lost these gets a moment to open others. If there never was
// one, files are not copied.
func (k *keeper) awaitFiles() {
	if _, had := k.files.state(); !had {
		return
	}
	for was := false; ; {
		change, present := k.links.state()
		open, _ := k.files.state()
		was = was || open > 0
		if was && open == 0 {
			return
		}
		patience := (<-chan time.Time)(nil)
		timer := time.NewTimer(k.wait.exit)
		switch {
		case open == 0:
			patience = timer.C
		case !present:
			timer.Reset(k.wait.away)
			patience = timer.C
		}
		select {
		case <-k.files.changed:
		case <-change:
		case <-k.Signals:
			timer.Stop()
			return
		case <-patience:
			return
		}
		timer.Stop()
	}
}
