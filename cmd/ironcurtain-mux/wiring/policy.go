package wiring

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// LoadedPolicy is a policy with its lists and annotations, and where it was loaded from.
type LoadedPolicy struct {
	Compiled    *policy.Compiled
	Annotations *policy.Annotations
	Lists       *policy.Lists // nil without any
	Source      string
}

// loadPolicy returns a function that reads the policy again; nil for the built-in policy.
func (w Parts) loadPolicy() func() (policy.Files, error) {
	if w.Config.Policy == "" && len(w.Servers) == 0 {
		return nil
	}
	return func() (policy.Files, error) {
		l, err := w.LoadOwn()
		return policy.Files{Policy: l.Compiled, Annotations: l.Annotations, Lists: l.Lists}, err
	}
}

// LoadOwn loads the policy of the configuration, with the annotations of the person's own
// servers that were accepted.
func (w Parts) LoadOwn() (LoadedPolicy, error) {
	l, err := LoadPolicyDir(w.Config.Policy)
	if err != nil {
		return l, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.Servers)) {
		path := w.Paths.AnnotationsOf(name)
		more, err := policy.LoadAnnotations(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			l.Annotations, err = l.Annotations.With(more)
		}
		if err != nil {
			return l, fault.Wrap("load "+path, err, "fix that file, or remove it")
		}
	}
	return l, nil
}

// PolicyFiles returns the files of a policy, which is a file or a directory.
func PolicyFiles(name string) []string {
	if name == "" {
		return nil
	}
	name = AbsolutePath(name)
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}
	}
	var files []string
	for _, file := range []string{"compiled-policy.json", "dynamic-lists.json", "tool-annotations.json"} {
		files = append(files, filepath.Join(name, file))
	}
	return files
}

// LoadPolicyDir reads a policy directory, or the built-in policy for "". A missing or
// broken file is an error: parts of different policies are never combined.
func LoadPolicyDir(dir string) (LoadedPolicy, error) {
	if dir == "" {
		compiled, annotations := policy.Default()
		return LoadedPolicy{Compiled: compiled, Annotations: annotations, Source: "built in"}, nil
	}
	l := LoadedPolicy{Source: dir}
	var err error
	if l.Compiled, l.Lists, err = policy.LoadDir(dir); err == nil {
		l.Annotations, err = policy.LoadAnnotations(filepath.Join(dir, "tool-annotations.json"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New("name another directory, or make a policy with 'ironcurtain-mux policy compile --output DIR'", "%w", err)
	}
	return l, err
}

// LoadPolicy reads a policy from a file or from a directory.
func LoadPolicy(name string) (*policy.Compiled, *policy.Lists, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return policy.LoadDir(name)
	}
	c, err := policy.LoadCompiled(name)
	return c, nil, err
}
