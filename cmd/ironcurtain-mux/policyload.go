package main

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

// loadedPolicy is a policy with its lists and annotations, and where it was loaded from.
type loadedPolicy struct {
	compiled    *policy.Compiled
	annotations *policy.Annotations
	lists       *policy.Lists // nil without any
	source      string
}

// loadPolicy returns how the policy is read again; nil for the built-in one.
func (w wiring) loadPolicy() func() (policy.Files, error) {
	if w.config.Policy == "" && len(w.servers) == 0 {
		return nil
	}
	return func() (policy.Files, error) {
		l, err := w.loadOwn()
		return policy.Files{Policy: l.compiled, Annotations: l.annotations, Lists: l.lists}, err
	}
}

// loadOwn loads the policy of the configuration, with the annotations of the person's own
// servers that were accepted.
func (w wiring) loadOwn() (loadedPolicy, error) {
	l, err := loadPolicyDir(w.config.Policy)
	if err != nil {
		return l, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.servers)) {
		path := w.paths.annotationsOf(name)
		more, err := policy.LoadAnnotations(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			l.annotations, err = l.annotations.With(more)
		}
		if err != nil {
			return l, fault.Wrap("load "+path, err, "mend that file, or remove it")
		}
	}
	return l, nil
}

// policyFiles returns the files of a policy, which is a file or a directory.
func policyFiles(name string) []string {
	if name == "" {
		return nil
	}
	name = absolutePath(name)
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}
	}
	var files []string
	for _, file := range []string{"compiled-policy.json", "dynamic-lists.json", "tool-annotations.json"} {
		files = append(files, filepath.Join(name, file))
	}
	return files
}

// loadPolicyDir reads a policy directory, or the built-in policy for "". A missing or
// broken file is an error: parts of different policies are never combined.
func loadPolicyDir(dir string) (loadedPolicy, error) {
	if dir == "" {
		compiled, annotations := policy.Default()
		return loadedPolicy{compiled: compiled, annotations: annotations, source: "built in"}, nil
	}
	l := loadedPolicy{source: dir}
	var err error
	if l.compiled, l.lists, err = policy.LoadDir(dir); err != nil {
		return loadedPolicy{}, err
	}
	l.annotations, err = policy.LoadAnnotations(filepath.Join(dir, "tool-annotations.json"))
	return l, err
}

// loadPolicy reads a policy from a file or from a directory.
func loadPolicy(name string) (*policy.Compiled, *policy.Lists, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return policy.LoadDir(name)
	}
	c, err := policy.LoadCompiled(name)
	return c, nil, err
}
