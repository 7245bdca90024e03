package gitx

import "path/filepath"

// maxModules bounds how many submodule repositories are looked at.
const maxModules = 256

// moduleURLs collects the remotes of the submodule repositories below dir and
// of their own submodules.
func (r *Repo) moduleURLs(dir string, depth int) ([]string, error) {
	if depth > 8 {
		return nil, refuse("the repository has too many submodules to check")
	}
	dirs, err := moduleDirs(dir, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, sub := range dirs {
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
