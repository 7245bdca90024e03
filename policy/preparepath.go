package policy

import (
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/hostexec"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// pathValue resolves a path. It does so once for all roles of the argument.
func (p *preparation) pathValue(name string, roles []Role, s string) (string, error) {
	role := firstPath(roles)
	r, err := p.view.Resolve(s)
	if err != nil {
		return s, p.refuse(RuleInvalidPath, name, role, s, err.Error())
	}
	return r.Path, p.addPath(name, roles, r)
}

// addPath checks a resolved path against the protected ones and records it.
func (p *preparation) addPath(name string, roles []Role, r pathx.Resolved) error {
	role := firstPath(roles)
	far := p.reach(name, roles)
	if err := p.checkProtected(name, role, r, far); err != nil {
		return err
	}
	if r.Path == p.paths.Base && p.tool.can(replaces) && !p.tool.traits.Git {
		return p.refuse(RuleInvalidPath, name, role, r.Path, "the path is the workspace itself, not a file in it")
	}
	sandbox := p.inSandbox(r.Path)
	for _, each := range roles {
		el := element{argument: name, role: each, text: r.Path, path: each.IsPath(), sandbox: sandbox, far: far != itself}
		if each == DeletePath && !p.tool.traits.Git && r.Path == p.paths.Base {
			el.sandbox = false // deleting the sandbox changes the directory above it
		}
		if each.changesFiles() {
			el.executes = p.runsOnHost(r, each)
		}
		p.elements = append(p.elements, el)
	}
	return nil
}

// runsOnHost returns why changing a file could later run or control a program on the
// host, or "".
func (p *preparation) runsOnHost(r pathx.Resolved, role Role) string {
	if why := hostexec.Path(r.Path, p.view.Exists); why != "" {
		return why
	}
	if why := p.gitObeys(r); why != "" {
		return why
	}
	if role == WritePath && r.Links > 1 && !r.Dir && !p.tool.traits.Git {
		return fmt.Sprintf("the file has %d names (hard links), and programs may obey it under another name; a copy with a single name can be written freely", r.Links)
	}
	return ""
}

// reach says which files below a named path a call affects.
type reach uint8

const (
	itself   reach = iota // only the path itself
	reads                 // the call can read everything below
	destroys              // the call can delete everything below
)

func (p *preparation) checkProtected(name string, role Role, r pathx.Resolved, far reach) error {
	if p.protected == nil {
		var err error
		if p.protected, err = p.collector.guard.view(p.view); err != nil {
			return p.refuse(RuleProtectedPath, name, role, r.Path, "it is not known which paths are protected: "+err.Error())
		}
	}
	protected, err := p.protected.protects(p.ctx, r)
	switch {
	case err != nil:
		return p.refuse(RuleProtectedPath, name, role, r.Path, "it is not known whether the path is protected: "+err.Error())
	case protected:
		return p.refuse(RuleProtectedPath, name, role, r.Path, "the path is protected")
	case far != itself && p.protected.covers(r, far == destroys):
		return p.refuse(RuleProtectedPath, name, role, r.Path, "the call would reach a protected path below this one")
	case len(p.elements) > maxElements:
		return p.refuse(RuleInvalidArguments, name, role, "", "the call names too many files")
	}
	return nil
}

// reach returns which files below the path of an argument the call affects.
func (p *preparation) reach(argument string, roles []Role) reach {
	switch {
	case slices.Contains(roles, DeletePath):
		return destroys
	case p.tool.can(recurses),
		p.tool.traits.Git && argument != "path" && p.tool.can(stages):
		return reads
	}
	return itself
}

func (p *preparation) inSandbox(path string) bool {
	base := p.paths.Base
	return base != "" && pathx.Within(path, base)
}

func firstPath(roles []Role) Role {
	for _, r := range roles {
		if r.IsPath() {
			return r
		}
	}
	return ReadPath
}
