package packages

import (
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// alike caches the answers of Session.lookAlike, because a document has many versions of one name.
type alike struct {
	mu     sync.Mutex
	byName map[string]compared // by origin and name
}

type compared struct {
	known int // the number of names it was compared with
	other string
}

// lookAlike returns a name that a package's name could be mistaken for: one that the session knows,
// or that of a package which this machine has installed from the same registry. It returns "" if
// there is none.
func (s *Session) lookAlike(o *registry.Origin, f *registry.Facts) string {
	known, k := s.names.size(o.Ecosystem)+s.host.ledger.size(), key(o.URL.String(), f.Name)
	s.alike.mu.Lock()
	defer s.alike.mu.Unlock()
	if c, is := s.alike.byName[k]; is && c.known == known {
		return c.other
	}
	names := s.names.all(o.Ecosystem)
	c := compared{known, confusable(f.Name, names)}
	if c.other == "" && !names[f.Name] {
		c.other = confusable(f.Name, s.host.ledger.Installed(o.URL.String(), f.Name))
	}
	if s.alike.byName == nil {
		s.alike.byName = make(map[string]compared)
	}
	s.alike.byName[k] = c
	return c.other
}

// confusable returns a known name that a name could be mistaken for: they differ by one letter, by
// two swapped letters, or only by separators and letters that look alike. It returns "" if there is
// none.
func confusable(name string, known map[string]bool) string {
	if known[name] {
		return ""
	}
	shape := skeleton(name)
	for other := range known {
		if len(other) > 3 && (skeleton(other) == shape || oneEdit(name, other)) && (owner(name) == "" || owner(name) != owner(other)) {
			return other
		}
	}
	return ""
}

// owner returns the scope of a name, or the host and owner of a Go module. Nobody else can register
// names below it.
func owner(name string) string {
	first, rest, _ := strings.Cut(name, "/")
	second, _, more := strings.Cut(rest, "/")
	switch {
	case strings.HasPrefix(name, "@"):
		return first
	case more:
		return first + "/" + second
	}
	return ""
}

// skeleton replaces letters that look alike by one of them, and drops separators and the signs of a
// scope, because types-node could be mistaken for @types/node.
func skeleton(name string) string {
	return lookAlike.Replace(strings.ToLower(name))
}

var lookAlike = strings.NewReplacer("-", "", "_", "", ".", "", "@", "", "/", "", "0", "o", "1", "l", "i", "l", "rn", "m", "vv", "w", "5", "s")

// oneEdit reports whether one added, removed or changed letter, or two swapped neighbors, turn one
// name into the other.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return false // equal
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || a[i+1:] == b[i+1:]
}
