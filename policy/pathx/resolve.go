package pathx

import (
	"context"
	"path"
	"strings"
)

// Resolver resolves paths that a program in another mount namespace may have written. The
// zero value has no home and no base, and accepts only absolute paths.
type Resolver struct {
	Base  string // resolved directory that relative paths start from
	Home  string // the directory that "~" means; empty: "~" is refused
	Mount string // where the writer of the path sees Base, such as /workspace; empty: nowhere

	base []Ident // identities of Base and its ancestors, outermost first
}

// New makes a resolver. It resolves base now, once.
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

	idents  []Ident // of every existing component, outermost first, without "/"
	changed []int64 // when each of them last changed, in nanoseconds
}

// Idents returns the identities of the existing directories on the way to the file and of
// the file itself, outermost first.
func (r Resolved) Idents() []Ident { return r.idents }

// Changed returns when the file and the directories on the way to it last changed,
// in nanoseconds and in the order of Idents. It is 0 for Base and the directories above it.
func (r Resolved) Changed() []int64 { return r.changed }

// ResolveTrusted is View.ResolveTrusted with a view of its own.
func (r *Resolver) ResolveTrusted(value string) (Resolved, error) {
	return r.View(context.Background()).ResolveTrusted(value)
}

// Resolve returns the file that the value names. Relative values, and values at or below
// Mount, start from Base; "~" means Home. It returns an *Error when the value is malformed,
// when it means different files to different processes, or when a directory cannot be
// looked up.
func (v *View) Resolve(value string) (Resolved, error) {
	if err := Check(value); err != nil {
		return Resolved{}, err
	}
	return v.resolve(value)
}

// ResolveTrusted resolves a path that comes from a configuration or a link and not from
// the agent. Its bytes are not checked, it may name special files, and the mount point has
// no special meaning.
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

// ResolveHost resolves an absolute path of the host. The mount point has no special
// meaning, and names are compared by their bytes, as git does.
func (v *View) ResolveHost(value string) (Resolved, error) {
	if !strings.HasPrefix(value, "/") {
		return Resolved{}, refuse("the path is not absolute")
	}
	return v.walk("/", value, nil, walkOptions{exact: true})
}

// resolve is Resolve for a value that Check has accepted.
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
		// If the host path of the base lies below the mount point, paths in the base
		// are host paths: a canonical path must resolve to itself.
		inBase = inBase && (r.Base == r.Mount || !Within(value, r.Base))
	}
	switch {
	case !inBase:
		return r.onHost(v.walk("/", value, nil, walkOptions{}))
	case r.Base == "":
		return Resolved{}, refuse("the path is relative and no base directory is known")
	case r.Mount != "":
		// Above the mount point the writer and the host see different directories, so
		// a path that goes up there would be ambiguous.
		return r.onHost(v.walk(r.Base, rest, r.base, walkOptions{floor: r.Base}))
	}
	return v.walk(r.Base, rest, r.base, walkOptions{})
}

// onHost refuses a host path that lies below the mount point's path but not in Base: in
// the writer's view its canonical form would mean another file.
func (r *Resolver) onHost(got Resolved, err error) (Resolved, error) {
	if err == nil && r.Mount != "" && Within(got.Path, r.Mount) && !Within(got.Path, r.Base) {
		return Resolved{}, refuse("the path leads to a directory that the agent knows by the same name as its workspace")
	}
	return got, err
}

// underMount returns the part of an absolute path after the mount point. Like the kernel,
// it ignores additional slashes, "." and, in the root directory, "..".
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
