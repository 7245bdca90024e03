package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// files are the host's connections for files.
type files struct {
	mu      sync.Mutex
	open    int
	had     bool          // there was one
	changed chan struct{} // lossy, one value: another number of them is open
}

func (f *files) add(n int) {
	f.mu.Lock()
	f.open += n
	f.had = true
	f.mu.Unlock()
	signal(f.changed)
}

func (f *files) look() (open int, had bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open, f.had
}

// serveFiles serves the connections for files that the host opens on a link, until the link ends.
// The multiplexer bounds how many there are at once.
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
			_ = k.remove()               // the host has looked for the tokens, which are no files of the session
			_ = k.Files.Serve(ctx, conn) // the host notices what goes wrong, and asks again
		})
	}
}

// linger lets the host fetch what the program has left, which is gone from the host's reach with the
// keeper: until it has closed its connections for files. A host that has lost them gets a moment
// to open others. Where there never was one, all files are the host's own.
func (k *keeper) linger() {
	if _, had := k.files.look(); !had {
		return
	}
	for was := false; ; {
		change, present := k.links.look()
		open, _ := k.files.look()
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
