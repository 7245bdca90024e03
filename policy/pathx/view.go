package pathx

import (
	"context"

	"golang.org/x/sys/unix"
)

// Bounds on what one view looks at.
const (
	maxParts   = 256      // components of one path, including those of links on the way
	maxLookups = 100_000  // names of all paths
	maxNames   = 16 << 20 // bytes of these names
	maxWalked  = 64 << 20 // bytes of all names on the way, counted again each time
)

// View is the file system as one judgment sees it. Each name is looked up once, however
// many paths contain it. All lookups together are bounded, and they stop when the context
// ends. A View is not safe for concurrent use.
type View struct {
	at        *Resolver
	ctx       context.Context // stored because a view lives only as long as one judgment
	seen      map[string]entry
	names     int                  // bytes of the names in seen
	walked    int                  // bytes of names on the way; see maxWalked
	err       error                // why something was not looked up
	spellings map[string]spellings // by directory
	listed    int                  // names read for spellings
}

// View starts a view of the current file system.
func (r *Resolver) View(ctx context.Context) *View {
	return &View{at: r, ctx: ctx, seen: map[string]entry{}}
}

// entry is what was found under one name.
type entry struct {
	errno   unix.Errno // 0 when it exists
	mode    uint32
	ident   Ident
	links   uint64
	changed int64
	target  string // target of a link, once it was followed
	proc    bool   // the link is on a proc file system
}

var (
	errEnded   = &Error{Reason: "the call was withdrawn before its paths were looked up"}
	errCrowded = &Error{Reason: "the paths of the call lead through too many directories"}
)

// look looks up a name, whose directory must be resolved.
func (v *View) look(name string) (entry, error) {
	if v.walked += len(name); v.walked > maxWalked {
		v.err = errCrowded
		return entry{}, v.err
	}
	if e, ok := v.seen[name]; ok {
		return e, nil
	}
	switch {
	case v.ctx.Err() != nil:
		v.err = errEnded
	case len(v.seen) >= maxLookups || v.names+len(name) > maxNames:
		v.err = errCrowded
	}
	if v.err != nil {
		return entry{}, v.err
	}
	v.names += len(name)
	var e entry
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		e.errno = errno(err)
	} else {
		e = entry{mode: uint32(st.Mode), ident: identOf(&st), links: uint64(st.Nlink), changed: unix.TimespecToNsec(st.Ctim)}
	}
	v.seen[name] = e
	return e, nil
}

// follow reads the link at a name in a directory.
func (v *View) follow(dir, name string, e entry) (entry, error) {
	if e.target != "" {
		return e, nil
	}
	buf := make([]byte, maxPath)
	n, err := unix.Readlink(name, buf)
	if err != nil {
		return e, refuse("a link of the path cannot be read: %s", unix.ErrnoName(errno(err)))
	}
	if n == 0 || n == len(buf) {
		return e, refuse("a link of the path is empty or too long")
	}
	e.target, e.proc = string(buf[:n]), onProc(dir)
	v.seen[name] = e
	return e, nil
}

// Err returns an error if the view answered without a lookup, because a bound was reached
// or the context had ended. The answers of Exists cannot be trusted then.
func (v *View) Err() error { return v.err }

// Exists reports whether a file has that name, whose directory must be resolved.
func (v *View) Exists(name string) bool {
	e, err := v.look(name)
	return err == nil && e.errno == 0
}
