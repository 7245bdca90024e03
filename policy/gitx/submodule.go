package gitx

import (
	"os"
	"path/filepath"
)

// maxModules bounds how many submodule repositories are looked at.
const maxModules = 256

// moduleURLs collects the remotes of the submodule repositories below dir.
// Names of submodules may contain slashes, so directories that are no
// repository are searched in turn.
func (r *Repo) moduleURLs(dir string, depth int) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse("the submodules cannot be listed")
	}
	if depth > 8 || len(entries) > maxModules {
		return nil, refuse("the repository has too many submodules to check")
	}
	var out []string
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if !isDir(sub) {
			continue
		}
		if !isGitDir(sub) {
			more, err := r.moduleURLs(sub, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
			continue
		}
		urls, err := moduleConfig(sub)
		if err != nil {
			return nil, err
		}
		more, err := r.moduleURLs(filepath.Join(sub, "modules"), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(append(out, urls...), more...)
		if len(out) > maxModules {
			return nil, refuse("the repository has too many submodules to check")
		}
	}
	return out, nil
}

// moduleConfig returns the addresses in the configuration of one submodule.
// Rewriting rules of its own would make them mean something else.
func moduleConfig(dir string) ([]string, error) {
	data, err := readFile(filepath.Join(dir, "config"), maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(data)
	if err != nil {
		return nil, err
	}
	if c.has("include") || c.has("includeif") || c.has("url") {
		return nil, refuse("the configuration of a submodule includes files or rewrites addresses")
	}
	var out []string
	for _, e := range c.entries {
		if e.section == "remote" && (e.name == "url" || e.name == "pushurl") {
			out = append(out, e.value)
		}
	}
	return out, nil
}
