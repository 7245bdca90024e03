package gitx

import (
	"path/filepath"
	"slices"
	"strings"
)

// Dirs returns the directories and files that git reads or writes for this repository,
// besides the files of the work tree: the repository, the shared repository, the work tree
// itself, alternate object stores, links, and files that its configuration names. They are
// not resolved.
func (r *Repo) Dirs() ([]string, error) {
	dirs := []string{r.GitDir}
	if r.CommonDir != r.GitDir {
		dirs = append(dirs, r.CommonDir)
	}
	if r.WorkTree != "" {
		dirs = append(dirs, r.WorkTree)
	}
	objects := filepath.Join(r.CommonDir, "objects")
	for _, extra := range []string{objects, filepath.Join(r.CommonDir, "refs"), filepath.Join(r.CommonDir, "config")} {
		if exists(extra) {
			dirs = append(dirs, extra)
		}
	}
	borrowed, err := r.view.alternates(objects)
	if err != nil {
		return nil, err
	}
	named, err := r.namedFiles()
	if err != nil {
		return nil, err
	}
	links, err := r.links()
	return slices.Concat(dirs, borrowed, named, links), err
}

// fileVariables are variables that name files which git reads. Some commands print the
// parts of these files that they cannot parse.
var fileVariables = []string{
	"blame.ignorerevsfile", "core.excludesfile", "core.attributesfile", "mailmap.file", "diff.orderfile",
	"commit.template", "format.signaturefile", "user.signingkey", "gpg.allowedsignersfile", "gpg.revocationfile",
	"fsck.skiplist", "fetch.skiplist", "receive.skiplist",
}

// namedFiles returns the files that the repository's own configuration names.
func (r *Repo) namedFiles() ([]string, error) {
	var files []string
	for _, e := range r.own.entries {
		if !slices.Contains(fileVariables, e.section+"."+e.name) {
			continue
		}
		for _, value := range readings(strings.TrimPrefix(e.value, ":(optional)")) {
			switch {
			case value == "":
			case strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~/"):
				files = append(files, value)
			case e.name == "signingkey": // the name of a key or a key itself
			case strings.HasPrefix(value, "~") || strings.HasPrefix(value, "%("):
				return nil, refuse("the repository's configuration names a file in a form that is not supported here")
			default:
				files = append(files, absolute(r.WorkTree, value))
			}
		}
	}
	return files, nil
}
