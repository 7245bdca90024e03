package main

import (
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// loadedPolicy is what calls are judged by, and where it came from.
type loadedPolicy struct {
	compiled    *policy.Compiled
	annotations *policy.Annotations
	lists       *policy.Lists // nil without any
	source      string
}

// policyFiles are the files of a policy that is a file or a directory.
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

// loadPolicyDir reads a policy directory; without one the built-in policy holds.
// A directory that lacks a file, or holds a broken one, is an error: a policy is
// never put together from parts that were not meant for each other.
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
