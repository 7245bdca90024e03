package pathx

import (
	"context"
	"path"
	"strings"
)

// Resolver resolves paths against one view of the file system. The zero value
// knows no home and no base and accepts absolute paths only.
type Resolver struct {
	Base  string // resolved directory that relative paths start from
	Home  string // what "~" stands for; empty: "~" is refused
	Mount string // where Base is mounted in the writer's view, such as /workspace; empty: nowhere

	base []Ident // identities of Base and its ancestors, outermost first
}

// New makes a resolver. Base and Home are resolved once, here.
func New(base, home, mount string) (*Resolver, error) {
	r := &Resolver{Home: home}
	if base != "" {
		if !strings.HasPrefix(base, "/") {
			return nil, refuse("the base directory is not absolute")
		}
		got, err := r.View(context.Background()).walk("/", base, nil, walkOptions{})
		if err != nil {
			return nil, err
		}
		r.Base, r.base = got.Path, got.idents
	}
	if mount != "" {
		clean := path.Clean(mount)
		if !strings.HasPrefix(clean, "/") || clean == "/" {
			return nil, refuse("the mount point is not an absolute path below /")
		}
		r.Mount = clean
	}
	return r, nil
}

// Resolved says which file a path names.
type Resolved struct {
	Path    string // canonical: absolute, no link, no "." and no ".."
	Exists  bool   // whether the last component is there
	Dir     bool   // whether it is a directory
	ViaLink bool   // whether a symbolic link was followed
	Ident   Ident  // of the file, when it exists
	Links   uint64 // number of hard links, when it exists and is not a directory

	idents  []Ident // of every existing component, outermost first, "/" left out
	changed []int64 // when each of them changed, in nanoseconds
}

// Idents returns the identities of the file and of every directory on the way
// to it, outermost first, as far as they exist.
func (r Resolved) Idents() []Ident { return r.idents }

// Changed returns when the file and the directories on the way to it last changed,
// in nanoseconds and in the order of Idents. It is 0 for Base and what is above.
func (r Resolved) Changed() []int64 { return r.changed }

// Resolve is View.Resolve for a single path.
func (r *Resolver) Resolve(value string) (Resolved, error) {
	return r.View(context.Background()).Resolve(value)
}

// ResolveTrusted is View.ResolveTrusted for a single path.
func (r *Resolver) ResolveTrusted(value string) (Resolved, error) {
	return r.View(context.Background()).ResolveTrusted(value)
}

// ResolveHost is View.ResolveHost for a single path.
func (r *Resolver) ResolveHost(value string) (Resolved, error) {
	return r.View(context.Background()).ResolveHost(value)
}

// Resolve says which file the value names. Relative values start from Base, "~" from
// Home, and a value at or below Mount from Base. It returns an *Error when
// the value is malformed, when its meaning differs from process to process or
// when it cannot be walked.
func (v *View) Resolve(value string) (Resolved, error) {
	if err := Check(value); err != nil {
		return Resolved{}, err
	}
	return v.resolve(value)
}

// ResolveTrusted resolves a path that comes from configuration or from a link
// and not from the agent: its bytes are not checked, it may name special
// files, and the mount point means nothing in it.
func (v *View) ResolveTrusted(value string) (Resolved, error) {
	r := v.at
	if value == "~" || strings.HasPrefix(value, "~/") {
		if r.Home == "" {
			return Resolved{}, refuse("no home directory is known")
		}
		value = r.Home + value[1:]
	}
	if !strings.HasPrefix(value, "/") {
		value = r.Base + "/" + value
	}
	return v.walk("/", value, nil, walkOptions{special: true})
}

// ResolveHost resolves an absolute path as it stands on the host: the mount
// point means nothing in it, and a name is its bytes, as it is for git.
func (v *View) ResolveHost(value string) (Resolved, error) {
	if !strings.HasPrefix(value, "/") {
		return Resolved{}, refuse("the path is not absolute")
	}
	return v.walk("/", value, nil, walkOptions{exact: true})
}

// resolve is Resolve for a value whose bytes are in order.
func (v *View) resolve(value string) (Resolved, error) {
	r := v.at
	if value == "~" || strings.HasPrefix(value, "~/") {
		if r.Home == "" {
			return Resolved{}, refuse("no home directory is known")
		}
		return r.onHost(v.walk("/", r.Home+value[1:], nil, walkOptions{}))
	}
	rest, inBase := value, true
	if strings.HasPrefix(value, "/") {
		rest, inBase = underMount(value, r.Mount)
		// Where the base itself has a name below the mount point, its own
		// name goes first: canonical paths must stay what they are.
		inBase = inBase && (r.Base == r.Mount || !Within(value, r.Base))
	}
	switch {
	case !inBase:
		return r.onHost(v.walk("/", value, nil, walkOptions{}))
	case r.Base == "":
		return Resolved{}, refuse("the path is relative and no base directory is known")
	case r.Mount != "":
		// Above the mount point the writer and the host see different
		// directories, so a path that climbs there has two meanings.
		return r.onHost(v.walk(r.Base, rest, r.base, walkOptions{floor: r.Base}))
	}
	return v.walk(r.Base, rest, r.base, walkOptions{})
}

// onHost refuses a path whose canonical form would be taken for another by
// whoever reads it in the writer's view: it lies under the name of the mount
// point, but on the host.
func (r *Resolver) onHost(got Resolved, err error) (Resolved, error) {
	if err == nil && r.Mount != "" && Within(got.Path, r.Mount) && !Within(got.Path, r.Base) {
		return Resolved{}, refuse("the path leads to a directory that the agent knows by the same name as its workspace")
	}
	return got, err
}

// underMount returns what follows the mount point in an absolute path. The
// kernel does not care how many slashes, "." and, in the root, ".." stand in
// front of a component, so neither does this.
func underMount(value, mount string) (rest string, ok bool) {
	if mount == "" {
		return "", false
	}
	rest = value
	atRoot := true
	for want := range strings.SplitSeq(mount[1:], "/") {
		var got string
		for got == "" || got == "." || (got == ".." && atRoot) {
			if rest == "" {
				return "", false
			}
			got, rest, _ = strings.Cut(rest, "/")
		}
		if got != want {
			return "", false
		}
		atRoot = false
	}
	return rest, true
}

// Within reports whether a canonical path is dir or lies under it.
func Within(p, dir string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return p == dir || (len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir)
}
