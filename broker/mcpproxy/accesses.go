package mcpproxy

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// pathRoles are the roles of arguments that name a place in the file system.
var pathRoles = []policy.Role{
	policy.ReadPath, policy.WritePath, policy.DeletePath, policy.WriteHistory, policy.DeleteHistory,
}

// accesses returns what a judged call does with which paths. Those that are relative to a
// repository lie in one of the others.
func accesses(v policy.Verdict) []stage.Access {
	named := map[string]stage.Access{}
	var names []string
	for _, step := range v.Trace {
		role := policy.Role(step.Role)
		if !slices.Contains(pathRoles, role) {
			continue
		}
		a, known := named[step.Argument]
		if !known {
			names = append(names, step.Argument)
		}
		a.Read = a.Read || role == policy.ReadPath
		a.Write = a.Write || role == policy.WritePath || role == policy.WriteHistory || role == policy.DeleteHistory
		a.Delete = a.Delete || role == policy.DeletePath
		named[step.Argument] = a
	}
	var arguments map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(v.Arguments, &arguments) != nil {
		return nil
	}
	slices.Sort(names)
	var all []stage.Access
	for _, name := range names {
		var one string
		var several []string
		if json.Unmarshal(arguments[name], &one) == nil {
			several = []string{one}
		} else if json.Unmarshal(arguments[name], &several) != nil {
			continue
		}
		for _, path := range several {
			if a := named[name]; filepath.IsAbs(path) {
				a.Path = path
				all = append(all, a)
			}
		}
	}
	return all
}

// pathsOf returns the paths of accesses.
func pathsOf(all []stage.Access) []string {
	var paths []string
	for _, a := range all {
		paths = append(paths, a.Path)
	}
	return paths
}
