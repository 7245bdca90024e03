package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// Engine judges calls. Its rules never change. Its collector gathers what a call names,
// and its judge decides by that. It is safe for concurrent use.
type Engine struct {
	config    Config
	collector *collector
	judge     *judge
	hash      string
	// warnings say which loaded rules, lists and annotations have no effect, or another effect than
	// one would expect.
	warnings []string
	// narrowings judge every call, too.
	narrowings []*Engine
}

// tool is an annotated tool, ready to be judged.
type tool struct {
	*annotation
	traits Traits
	names  []string // of its arguments, in order
	rules  []*rule  // those that can apply to it, in order
	// unknown is true when nobody has annotated the tool.
	unknown bool
	// asks is true when a person decides about calls that no rule covers.
	asks bool
}

// maxValues is how many values a call may have. A parsed value takes up to a hundred times
// the memory of its text.
const maxValues = 50_000

// New builds an engine. It fails when any part of the configuration is missing or cannot
// be used, such as the sandbox, a protected path or a domain.
func New(c Config) (*Engine, error) {
	if c.Policy == nil || c.Annotations == nil {
		return nil, errors.New("policy engine: a policy and annotations are needed")
	}
	if c.Traits == nil {
		c.Traits = DefaultTraits()
	}
	if c.SystemGit == "" {
		c.SystemGit = "/etc/gitconfig"
	}
	paths, err := pathx.New(c.Sandbox, c.Home, c.Mount)
	if err != nil {
		return nil, fmt.Errorf("policy engine: sandbox: %w", err)
	}
	e := &Engine{
		config: c, hash: hashOf(c.Policy, c.Annotations, c.Lists),
		judge: &judge{gates: map[string][]urlx.Pattern{}, maxCall: cmp.Or(max(c.MaxCall, 0), jsonx.DefaultBytes)},
	}
	e.collector = &collector{
		tools: map[toolKey]*tool{}, limits: jsonx.Limits{Bytes: c.MaxCall, Members: maxValues}, paths: paths, gitFixed: c.GitFixed, asking: map[string]bool{},
		around: gitx.NewSurroundings(gitx.Home{Dir: c.Home, System: c.SystemGit}, paths.Base),
	}
	if e.collector.guard, err = newGuard(paths, c.Protected, c.Unprotected, c.AgentDirs); err != nil {
		return nil, fmt.Errorf("policy engine: %w", err)
	}
	for _, server := range c.Asking {
		e.collector.asking[server] = true
	}
	for _, dir := range c.Attached {
		got, err := paths.ResolveTrusted(dir)
		if err != nil {
			return nil, fmt.Errorf("policy engine: attached repository %q: %w", dir, err)
		}
		e.collector.attached = append(e.collector.attached, got.Path)
	}
	for server, hosts := range c.DomainAllow {
		for _, h := range hosts {
			p, err := urlx.ParsePattern(h)
			if err != nil {
				return nil, fmt.Errorf("policy engine: allowed domains of server %q: %w", server, err)
			}
			e.judge.gates[server] = append(e.judge.gates[server], p)
		}
		if e.judge.gates[server] == nil {
			e.judge.gates[server] = []urlx.Pattern{}
		}
	}
	e.index()
	if err := e.addNarrowings(); err != nil {
		return nil, err
	}
	return e, nil
}

// addNarrowings makes the engines of the narrowing policies. Except for rules and lists,
// they judge as this engine does.
func (e *Engine) addNarrowings() error {
	for _, n := range e.config.Narrowings {
		c := e.config
		c.Policy, c.Lists, c.Narrowings = n.Policy, n.Lists, nil
		inner, err := New(c)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Dir, err)
		}
		e.narrowings = append(e.narrowings, inner)
		e.hash += "+" + inner.hash
		for _, w := range inner.warnings {
			if !slices.Contains(e.warnings, w) {
				e.warnings = append(e.warnings, n.Dir+": "+w)
			}
		}
	}
	return nil
}

// index gives every annotated tool the rules that can apply to it.
func (e *Engine) index() {
	rules, warnings := e.compileRules()
	e.warnings = append(e.config.Annotations.Warnings(), warnings...)
	all := maps.Clone(e.config.Annotations.tools)
	maps.Copy(all, proxyTools())
	for key, a := range all {
		traits := e.config.Traits[key.server]
		t := &tool{annotation: a.tighten(traits), traits: traits, asks: e.collector.asking[key.server]}
		t.names = slices.Sorted(maps.Keys(t.args))
		for _, r := range rules {
			if r.when.AppliesTo(key.server, key.tool) {
				t.rules = append(t.rules, r)
			}
		}
		e.collector.tools[key] = t
	}
}

// Hash identifies the policy, annotations and lists together, for the audit. The hashes of
// narrowing policies follow, each behind a "+".
func (e *Engine) Hash() string { return e.hash }

// hashOf hashes the three files. The length of each is hashed too, so that moving bytes
// from one to the next changes the hash.
func hashOf(c *Compiled, a *Annotations, l *Lists) string {
	var lists []byte
	if l != nil {
		lists = l.raw
	}
	return digest(c.raw, a.raw, lists)
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
