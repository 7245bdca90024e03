package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// preparation brings the arguments of one call into their canonical form, and records
// the elements in them.
type preparation struct {
	*snapshot
	*facts
	repo   *gitx.Repo   // of a git call; nil when there is none
	nested []*gitx.Repo // the repositories that git also looks into, such as submodules
}

func (p *preparation) run() error {
	if err := p.checkAmount(); err != nil {
		return err
	}
	p.documentedDefaults()
	if p.tool.traits.Git {
		if err := p.gitDirectory(); err != nil {
			return err
		}
	}
	original := p.args // conditions of roles use the values that were sent
	for _, m := range p.args.Members {
		arg, ok := p.tool.args[m.Name]
		if !ok {
			continue
		}
		roles := arg.resolve(original, p.tool.schema)
		for _, r := range roles {
			if !slices.Contains(p.roles, r) {
				p.roles = append(p.roles, r)
			}
		}
		if p.tool.traits.Git && m.Name == "path" {
			continue // gitDirectory has resolved it already
		}
		value, err := p.value(m.Name, roles, m.Value)
		if err != nil {
			return err
		}
		p.args = p.args.With(m.Name, value)
	}
	p.absentRoles(original)
	if !p.tool.traits.Git {
		return nil
	}
	if err := p.wholeTree(original); err != nil {
		return err
	}
	if err := p.defaultRemote(); err != nil {
		return err
	}
	p.listsRemotes = p.repo != nil && p.tool.does(lists, p.args) && p.repo.PlainRemotes()
	return nil
}

// absentRoles adds the roles of arguments that the call leaves out, because rules about a
// role apply to the tool and not only to given values.
func (p *preparation) absentRoles(call jsonx.Value) {
	for _, name := range p.tool.names {
		if _, present := call.Member(name); present {
			continue
		}
		for _, r := range p.tool.args[name].resolve(call, p.tool.schema) {
			if !slices.Contains(p.roles, r) {
				p.roles = append(p.roles, r)
			}
		}
	}
}

// value brings one argument to its canonical form.
func (p *preparation) value(name string, roles []Role, v jsonx.Value) (jsonx.Value, error) {
	if v.Kind == jsonx.Null && p.mayBeNull(name) {
		return v, nil
	}
	for _, r := range roles {
		switch r.category() {
		case pathlike, repoPath, urllike, remote, identifier:
			return p.each(name, r, v, func(s string) (string, error) { return p.canonical(name, roles, r, s) })
		case refname:
			if v.Kind == jsonx.String || v.Kind == jsonx.Array || v.Kind == jsonx.Object {
				return p.each(name, r, v, func(s string) (string, error) { return p.canonical(name, roles, r, s) })
			}
		case headers:
			return v, p.headers(name, roles, v)
		default: // there is no canonical form
		}
	}
	if (p.tool.traits.SandboxFiles || p.tool.traits.Fetch) && len(roles) == 0 {
		if err := p.strayValue(name, v); err != nil {
			return v, err
		}
	}
	p.plainElements(name, roles, v)
	return v, nil
}

// mayBeNull reports whether null for an argument means that it is left out: the schema,
// which the call has passed, declares the argument and does not require it.
func (p *preparation) mayBeNull(name string) bool {
	_, declared := p.tool.schema.Property(name)
	return declared && !p.tool.schema.Required(name)
}

// each applies f to a string, or to every string of a flat array. It refuses values of
// any other shape.
func (p *preparation) each(name string, r Role, v jsonx.Value, f func(string) (string, error)) (jsonx.Value, error) {
	switch v.Kind {
	case jsonx.String:
		s, err := f(v.Text)
		return jsonx.Text(s), err
	case jsonx.Array:
		if len(v.Items) == 0 && r.Judged() {
			return v, p.refuse(RuleInvalidArguments, name, r, "", "the list is empty")
		}
		out := jsonx.Value{Kind: jsonx.Array, Items: make([]jsonx.Value, len(v.Items))}
		for i, item := range v.Items {
			if item.Kind != jsonx.String {
				return v, p.refuse(RuleInvalidArguments, name, r, "", "the list has an item that is not a string")
			}
			s, err := f(item.Text)
			if err != nil {
				return v, err
			}
			out.Items[i] = jsonx.Text(s)
		}
		return out, nil
	default:
		return v, p.refuse(RuleInvalidArguments, name, r, "", "the value is neither a string nor a list of strings")
	}
}

func (p *preparation) refuse(rule, name string, r Role, value, why string) error {
	return &refusal{
		rule: rule, argument: name, role: r, value: value,
		reason: describe("argument %q (%s): %s", name, r, why),
	}
}

// canonical brings one string to its canonical form and records it as an
// element of every role that is judged.
func (p *preparation) canonical(name string, roles []Role, first Role, s string) (string, error) {
	switch first.category() {
	case pathlike:
		return p.pathValue(name, roles, s)
	case repoPath:
		return p.repoPathValue(name, s)
	case urllike:
		s, err := p.urlValue(name, s)
		p.add(without(roles, FetchURL), element{argument: name, text: s})
		return s, err
	case remote:
		s, err := p.remoteValue(name, s)
		p.add(without(roles, GitRemote), element{argument: name, text: s})
		return s, err
	case identifier:
		return p.identifierValue(name, roles, first, s)
	default: // a reference
	}
	rev, file, colon := strings.Cut(s, ":")
	if why := checkRef(first, s, colon && first == GitRef && p.tool.traits.Git && p.tool.can(revisions)); why != "" {
		return s, p.refuse(RuleGitOption, name, first, s, why)
	}
	if strings.Contains(s, "*") && p.tool.can(exchanges) {
		return s, p.refuse(RuleGitOption, name, first, s, "the reference matches more than one branch")
	}
	if colon {
		if err := p.revisionFile(name, rev, file); err != nil {
			return s, err
		}
	}
	p.add(roles, element{argument: name, text: s})
	return s, nil
}

// without returns the roles except one, whose elements are recorded separately.
func without(roles []Role, role Role) []Role {
	return slices.DeleteFunc(slices.Clone(roles), func(r Role) bool { return r == role })
}

// plainElements records the strings of an argument that is only compared with lists, such
// as mail addresses.
func (p *preparation) plainElements(name string, roles []Role, v jsonx.Value) {
	switch v.Kind {
	case jsonx.String:
		p.add(roles, element{argument: name, text: v.Text})
	case jsonx.Array:
		for _, item := range v.Items {
			if item.Kind == jsonx.Null { // an item of the array, which may have a meaning
				p.add(roles, element{argument: name, text: "null"})
			}
			p.plainElements(name, roles, item)
		}
	case jsonx.Object, jsonx.Number, jsonx.Bool:
		if len(roles) > 0 {
			p.add(roles, element{argument: name, text: string(v.Encode())})
		}
	default: // null names nothing
	}
}

func (p *preparation) urlValue(name, s string) (string, error) {
	u, err := urlx.Parse(s)
	if err != nil {
		return s, p.refuse(RuleInvalidURL, name, FetchURL, s, err.Error())
	}
	target := u.Target()
	p.add([]Role{FetchURL}, element{argument: name, text: u.String(), target: &target})
	return u.String(), nil
}

// documentedDefaults adds the default values of the tool's schema for arguments that the
// call leaves out and whose values name something. Then the value that the server will use
// is judged, and the forwarded call contains it.
func (p *preparation) documentedDefaults() {
	for _, name := range p.tool.names {
		if v, present := p.args.Member(name); present && v.Kind != jsonx.Null {
			continue
		}
		if p.tool.traits.Git && name == "path" {
			continue // gitDirectory puts in the working directory
		}
		declared, _ := p.tool.schema.Property(name)
		value, ok := declared.Member("default")
		if !ok || (value.Kind != jsonx.String || value.Text == "") && (value.Kind != jsonx.Array || len(value.Items) == 0) {
			continue
		}
		named := func(r Role) bool { return r.Judged() || r == RepoPath }
		if slices.ContainsFunc(p.tool.args[name].resolve(p.args, p.tool.schema), named) {
			p.args = p.args.With(name, value)
		}
	}
}
