package packages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// names counts the names that a session asks registries for. A name is data that leaves this
// machine, so an agent could encode what it has read in names that nobody has registered. Names
// that others chose are known: those in lockfiles, those of dependencies in delivered documents and
// artifacts, and those in the ledger. A version that is sent to a registry counts as a name, too
// ("NAME@VERSION"), unless a lockfile, a document, an artifact or the ledger names it.
type names struct {
	limits map[string]int // by what is counted

	mu       sync.Mutex
	known    map[string]map[string]bool // by ecosystem
	by       map[string]string          // the first package that needs a name, by ecosystem and name
	versions map[string]bool            // versions that others chose, by ecosystem, name and version
	count    map[string]int
	absent   map[string]bool // names that a registry did not have
	hosts    map[string]bool // known hosts of Go modules

	asking sync.Mutex       // held while a person is asked, so that they are asked only once
	denied map[string]error // the newest denial, by subject of the question
}

// The counters.
const (
	countNew     = "names and versions that this machine does not know"
	countUnknown = "names that no registry has"
	countAll     = "names"
)

// mostNames is how many names a session may ask for in total before a person is asked.
const mostNames = 5000

// mostKnown is how many known names of an ecosystem a session remembers, because one document can
// list millions. A longer name than longestKnown is not remembered either: a question would show it.
const (
	mostKnown    = 100_000
	longestKnown = 500 // bytes
)

func newNames(o Options) *names {
	n := &names{
		limits: map[string]int{countNew: o.NewNames, countUnknown: o.UnknownNames, countAll: mostNames},
		known:  make(map[string]map[string]bool), by: make(map[string]string), versions: make(map[string]bool), count: make(map[string]int), absent: make(map[string]bool), hosts: make(map[string]bool), denied: make(map[string]error),
	}
	for _, host := range o.GitHosts {
		n.hosts[host] = true
	}
	return n
}

// know adds names that others chose.
func (n *names) know(ecosystem string, all ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.known[ecosystem]
	if known == nil {
		known = make(map[string]bool)
		n.known[ecosystem] = known
	}
	for _, name := range all {
		if len(known) >= mostKnown || len(name) > longestKnown {
			continue // it counts as new
		}
		known[spelled(ecosystem, name)] = true
		if ecosystem == "go" {
			n.hosts[hostOf(name)] = true
		}
	}
}

// need adds the dependencies of a package.
func (n *names) need(ecosystem, by string, all ...string) {
	n.know(ecosystem, all...)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range all {
		if k := key(ecosystem, name); n.by[k] == "" && by != name && len(n.by) < mostKnown && len(name) <= longestKnown {
			n.by[k] = by
		}
	}
}

// mostNeeded bounds a chain of dependencies.
const mostNeeded = 8

// neededBy returns the chain of packages that need a name, as "app > express > left", or "".
func (n *names) neededBy(ecosystem, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	chain := []string{name}
	for len(chain) < mostNeeded {
		by := n.by[key(ecosystem, chain[0])]
		if by == "" || slices.Contains(chain, by) {
			break
		}
		chain = slices.Insert(chain, 0, by)
	}
	if len(chain) == 1 {
		return ""
	}
	return strings.Join(chain, " > ")
}

// knowVersion adds a version that others chose.
func (n *names) knowVersion(ecosystem string, p registry.Pin) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.versions[key(ecosystem, p.Name, p.Version)] = true
}

// knowsVersion reports whether others chose a version.
func (n *names) knowsVersion(ecosystem string, p registry.Pin) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.versions[key(ecosystem, p.Name, p.Version)]
}

// all returns the known names.
func (n *names) all(ecosystem string) map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.known[ecosystem])
}

// size returns how many names are known.
func (n *names) size(ecosystem string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.known[ecosystem])
}

// spelled returns the same text for equal names: crate names ignore case.
func spelled(ecosystem, name string) string {
	if ecosystem == "cargo" {
		return strings.ToLower(name)
	}
	return name
}

func hostOf(module string) string {
	host, _, _ := strings.Cut(module, "/")
	return host
}

// missing counts a name that a registry does not have, once.
func (n *names) missing(ecosystem, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := key(ecosystem, spelled(ecosystem, name)); !n.absent[k] {
		n.absent[k] = true
		n.count[countUnknown]++
	}
}

// add counts a name, and returns what a person must be asked about, or "".
func (n *names) add(ecosystem, name string, knownHere bool) (what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count[countAll]++
	if !n.known[ecosystem][spelled(ecosystem, name)] && !knownHere {
		n.count[countNew]++
	}
	for _, what := range []string{countUnknown, countNew, countAll} {
		if n.limits[what] > 0 && n.count[what] > n.limits[what] {
			return what
		}
	}
	return ""
}

// allow doubles a limit, after a person has approved.
func (n *names) allow(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.limits[what] = max(2*n.limits[what], n.count[what])
}

// over returns a count, and whether it is still over its limit.
func (n *names) over(what string) (count int, still bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count[what], n.count[what] > n.limits[what]
}

// admit implements registry.SessionConfig.Admit: it decides whether a name or a version may leave
// this machine.
func (s *Session) admit(ctx context.Context, o *registry.Origin, p registry.Pin) error {
	name, here := p.Name, s.host.ledger.Knows(o.URL.String(), p.Name)
	if p.Version != "" {
		name, here = p.Name+"@"+p.Version, false
	} else if o.Ecosystem == "go" && !here {
		if err := s.admitHost(ctx, hostOf(name)); err != nil {
			return err
		}
	}
	before := s.names.denials()
	what := s.names.add(o.Ecosystem, name, here)
	if what == "" {
		return nil
	}
	s.names.asking.Lock()
	defer s.names.asking.Unlock()
	count, still := s.names.over(what)
	if !still {
		return nil
	}
	err := s.askName(ctx, before, o, what, fmt.Sprintf("%d %s", count, what), name,
		fmt.Sprintf("the agent has asked package registries for %d %s; names can carry data out", count, what))
	if err == nil {
		s.names.allow(what)
	}
	return err
}

// admitHost asks about a new host of Go modules, because the path of a module reaches its author's
// server.
func (s *Session) admitHost(ctx context.Context, host string) error {
	before := s.names.denials()
	s.names.asking.Lock()
	defer s.names.asking.Unlock()
	s.names.mu.Lock()
	known := s.names.hosts[host]
	s.names.mu.Unlock()
	if known {
		return nil
	}
	err := s.askName(ctx, before, &registry.Origin{Ecosystem: "go"}, "host", host, host,
		fmt.Sprintf("the host %s of Go modules is new; its owner sees the paths that are requested", host))
	if err == nil {
		s.names.mu.Lock()
		s.names.hosts[host] = true
		s.names.mu.Unlock()
	}
	return err
}

// denials returns the denials so far.
func (n *names) denials() map[string]error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.denied)
}

// askName asks the person about names. before are the denials from before the caller waited for
// asking, which it holds. If the same question was denied in the meantime, askName returns that
// denial and does not ask again.
func (s *Session) askName(ctx context.Context, before map[string]error, o *registry.Origin, what, value, name, why string) error {
	about := what
	if what == "host" {
		about = key(what, value)
	}
	if denied := s.names.denials()[about]; denied != before[about] { //nolint:errorlint // identity of the denial
		return denied
	}
	arguments, err := json.Marshal(map[string]string{"what": what, "value": value, "next": name})
	if err != nil {
		return fmt.Errorf("ask about names: %w", err)
	}
	sum := sha256.Sum256(slices.Concat([]byte(s.options.ID+"\x00names\x00"), arguments))
	decision, err := s.askPerson(ctx, approval.Escalation{
		Session: s.options.ID, Plane: audit.PlanePackage, Server: o.Ecosystem, Tool: "ask for names", Arguments: arguments,
		Rule: "names", Reason: why, Digest: hex.EncodeToString(sum[:]), Timeout: s.options.Timeout,
	})
	if err != nil {
		return err
	}
	if !decision.Approved {
		err = registry.Refuse(403, registry.ReasonNames, "%s; it was not approved (%s)", why, decision.Outcome)
		s.names.mu.Lock()
		s.names.denied[about] = err
		s.names.mu.Unlock()
	}
	return err
}
