package menu

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// LookUp finds the entries of a Source.
type LookUp struct {
	API       broker.API
	Dir       string             // the directory to which paths are relative
	Workspace string             // of the session of the source
	Running   []broker.SessionID // sessions that run in a tab, and so cannot be resumed
	Now       time.Time
}

// seenAt is where an agent in a container sees its workspace.
const seenAt = "/workspace"

// Find returns the entries of a source. It reads directories or asks the broker, and may block. After
// an error, it returns no entries.
func (l LookUp) Find(ctx context.Context, s Source) (out []Entry) {
	switch s.Kind {
	case Sessions:
		return l.sessions(ctx)
	case Grants:
		grants, _ := l.API.Grants(ctx)
		for _, g := range grants {
			about := fmt.Sprintf("%s of %s, %s", text.Drawable(g.Scope), text.Drawable(g.Agent), text.Drawable(g.Text))
			out = append(out, Entry{Word: fmt.Sprint(g.Number), About: about})
		}
	case Servers:
		servers, _ := l.API.Servers(ctx, s.Session)
		for _, one := range servers {
			out = append(out, Entry{Word: text.Drawable(one.Name), About: string(one.State) + ", " + view.Counted(one.Tools, "tool")})
		}
	case Denied:
		all, _ := l.API.Registries(ctx, s.Session)
		for _, name := range all.Denied {
			out = append(out, Entry{Word: text.Drawable(name), About: "you denied it"})
		}
	case Directories:
		return paths(input.Directories(l.Dir, s.Dir))
	case Files:
		return paths(input.Files(l.Dir, s.Dir))
	case Inside:
		return paths(input.Inside(l.Workspace, seenAt, s.Dir))
	}
	return out
}

// sessions returns the sessions on disk that can be resumed.
func (l LookUp) sessions(ctx context.Context) (out []Entry) {
	stored, _ := l.API.Stored(ctx)
	for _, s := range stored {
		if s.Ephemeral || slices.Contains(l.Running, s.ID) {
			continue
		}
		about := fmt.Sprintf("%s, %s, %s", text.Drawable(s.Agent), s.StateWords(), view.Age(l.Now.Sub(s.LastActivity)))
		if !strings.HasSuffix(s.Workspace, string(s.ID)+"/sandbox") {
			about += ", " + view.PlaceColumn(s.Place())
		}
		out = append(out, Entry{Word: broker.ShortID(s.ID), About: about, Names: []string{string(s.ID)}})
	}
	return out
}

// paths returns the entries of files and directories.
func paths(all []string) (out []Entry) {
	for _, path := range all {
		e := Entry{Word: input.Escape(path), About: "file"}
		if drawn := text.Drawable(path); drawn != path { // the path has characters that must not be drawn as they are
			e.Usage = drawn
		}
		if e.Open = strings.HasSuffix(path, string(filepath.Separator)); e.Open {
			e.About = "directory"
		}
		out = append(out, e)
	}
	return out
}
