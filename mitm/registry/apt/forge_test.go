package apt

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// forge is a repository under an invented name. It is the plane's fetcher, too.
type forge struct {
	*forged.Apt
	origin *registry.Origin

	mu    sync.Mutex
	asked []string
}

func newForge(t testing.TB) *forge {
	t.Helper()
	a := forged.NewApt(t)
	return &forge{Apt: a, origin: &registry.Origin{Ecosystem: "apt", URL: &url.URL{Scheme: "http", Host: "repo.example", Path: "/debian/"}, Keys: []string{a.Keyring}}}
}

// memory is Seen in memory. The zero value is ready.
type memory struct{ seen []Distribution }

func (m *memory) Distributions(string) []Distribution { return slices.Clone(m.seen) }

func (m *memory) Remember(_ string, d Distribution) error {
	m.seen = append(slices.DeleteFunc(m.seen, func(other Distribution) bool { return other.Name == d.Name }), d)
	return nil
}

// paths are what the repository was asked for.
func (f *forge) paths() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// Document gets a file, as the plane does.
func (f *forge) Document(_ context.Context, _ *registry.Origin, path, _ string) (*registry.Document, error) {
	parts, ok := split(path)
	if !ok {
		return nil, fmt.Errorf("%s is no path", path)
	}
	plain := strings.Join(parts, "/")
	f.mu.Lock()
	f.asked = append(f.asked, plain)
	f.mu.Unlock()
	data := f.Get(plain)
	if data == nil {
		return nil, registry.ErrNotFound
	}
	return &registry.Document{Data: data}, nil
}

// run runs a program and returns what it writes.
func run(t testing.TB, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	return out.Bytes()
}

// compressed is data as a program compresses it.
func compressed(t testing.TB, data []byte, program string, args ...string) []byte {
	t.Helper()
	return run(t, data, program, append(args, "-c")...)
}

// ask parses a path below the origin and gets its facts.
func (f *forge) ask(t testing.TB, e *Ecosystem, path string) (*registry.Facts, *registry.Ask, error) {
	t.Helper()
	a, err := e.Parse(f.origin, &registry.Request{Method: "GET", Base: f.origin.URL, Path: path})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	facts, err := e.Facts(t.Context(), f, f.origin, a)
	return facts, a, err
}

// Admit lets every version pass.
func (*forge) Admit(context.Context, *registry.Origin, registry.Pin, func() (bool, error)) error {
	return nil
}
