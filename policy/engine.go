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

// Engine judges calls, always by the same rules: a collector gathers what a call names,
// and a judge decides about that. It is safe for concurrent use.
type Engine struct {
	config    Config
	collector *collector
	judge     *judge
	hash      string
	warnings  []string
}

// tool is an annotated tool, ready to be judged.
type tool struct {
	*annotation
	traits Traits
	names  []string // of its arguments, in order
	rules  []*rule  // those that can speak of it, in order
}

// maxValues is how many values a call may have. Each one takes a hundred times the bytes
// that it can be written with.
const maxValues = 50_000

// New builds an engine. It fails when the sandbox or a pattern cannot be
// understood; nothing is judged by half a configuration.
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
		tools: map[toolKey]*tool{}, limits: jsonx.Limits{Bytes: c.MaxCall, Members: maxValues}, paths: paths, gitFixed: c.GitFixed,
		around: gitx.NewSurroundings(gitx.Home{Dir: c.Home, System: c.SystemGit}, paths.Base),
	}
	if e.collector.guard, err = newGuard(paths, c.Protected, c.Unprotected, c.AgentDirs); err != nil {
		return nil, fmt.Errorf("policy engine: %w", err)
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
	return e, nil
}

// index binds every annotated tool to the rules that can speak of it.
func (e *Engine) index() {
	rules, warnings := e.compileRules()
	e.warnings = append(e.config.Annotations.Warnings(), warnings...)
	all := maps.Clone(e.config.Annotations.tools)
	maps.Copy(all, proxyTools())
	for key, a := range all {
		traits := e.config.Traits[key.server]
		t := &tool{annotation: a.tighten(traits), traits: traits}
		t.names = slices.Sorted(maps.Keys(t.args))
		for _, r := range rules {
			if r.when.SpeaksOf(key.server, key.tool) {
				t.rules = append(t.rules, r)
			}
		}
		e.collector.tools[key] = t
	}
}

// Hash identifies policy, annotations and lists together, for the audit.
func (e *Engine) Hash() string { return e.hash }

// Warnings says what was loaded but has no effect.
func (e *Engine) Warnings() []string { return e.warnings }

// hashOf hashes the three artifacts, each with its length so that none can
// flow into the next.
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
