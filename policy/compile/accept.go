package compile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Limits of what a model may propose for a server.
const (
	maxRules = 60
	maxLists = 10
	maxText  = 600 // of a name, description, reason or pattern, in bytes
)

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// accept checks rules that were decoded as a policy. It refuses rules that deny, that are
// not for this server's tools, or whose lists cannot be looked up.
func accept(server string, tools []policy.ToolDescription, p *policy.Compiled) error {
	if len(p.Rules) > maxRules || len(p.Lists) > maxLists {
		return fmt.Errorf("there are more than %d rules or %d lists", maxRules, maxLists)
	}
	seen := map[string]bool{}
	for _, r := range p.Rules {
		if seen[r.Name] {
			return fmt.Errorf("two rules have the name %s", r.Name)
		}
		seen[r.Name] = true
		if err := acceptRule(server, tools, r); err != nil {
			return fmt.Errorf("rule %s: %w", r.Name, err)
		}
	}
	for _, def := range p.Lists {
		if err := acceptList(p, def); err != nil {
			return fmt.Errorf("list %s: %w", def.Name, err)
		}
	}
	return nil
}

func acceptRule(server string, tools []policy.ToolDescription, r policy.Rule) error {
	switch {
	case !kebab.MatchString(r.Name):
		return errors.New("the name is not in kebab-case")
	case r.Then == policy.Deny:
		return errors.New("rules do not deny; a call that no rule covers is denied anyway")
	case !slices.Equal(policy.Find[policy.Servers](r.If), policy.Servers{server}):
		return fmt.Errorf("server must be exactly [%q]", server)
	case strings.TrimSpace(r.Reason) == "":
		return errors.New("there is no reason")
	}
	for _, s := range wordsOf(r) {
		if err := plain(s); err != nil {
			return err
		}
	}
	for _, name := range policy.Find[policy.Tools](r.If) {
		if !slices.ContainsFunc(tools, func(t policy.ToolDescription) bool { return t.Name == name }) {
			return fmt.Errorf("the server has no tool %q", text.Clip(name, maxName))
		}
	}
	return checkRoles(server, tools, r)
}

// checkRoles refuses a rule that can decide nothing, because none of its tools has one of
// the roles that it names.
func checkRoles(server string, tools []policy.ToolDescription, r policy.Rule) error {
	var judged []policy.Role
	for _, t := range tools {
		if r.If.AppliesTo(server, t.Name) {
			judged = append(judged, judgedRoles(t)...)
		}
	}
	for _, role := range r.If.Named() {
		if !slices.Contains(judged, role) {
			return fmt.Errorf("role %q is judged in none of the rule's tools", string(role))
		}
	}
	if len(r.If.Named()) > 0 && !slices.ContainsFunc(judged, r.If.TakesPart) {
		return errors.New("its conditions have no role in common, so it never applies")
	}
	return nil
}

// judgedRoles returns the roles of a tool that rules decide about.
func judgedRoles(t policy.ToolDescription) []policy.Role {
	return slices.DeleteFunc(t.Roles(), func(r policy.Role) bool { return !r.Judged() })
}

// wordsOf returns every text of a rule that a person may see.
func wordsOf(r policy.Rule) []string {
	out := []string{r.Name, r.Description, r.Principle, r.Reason}
	for _, o := range r.If.Opens() {
		out = append(out, o.Text)
	}
	return out
}

// plain refuses text that is too long or that could disturb a screen.
func plain(s string) error {
	if len(s) > maxText {
		return fmt.Errorf("a text is longer than %d bytes", maxText)
	}
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return errors.New("a text contains an invisible character")
	}
	return nil
}

func acceptList(p *policy.Compiled, def policy.ListDefinition) error {
	if def.RequiresMCP {
		return errors.New("only a tool could look up its values (requiresMcp), and the model gets no tools here; write the values into the constitution")
	}
	if strings.TrimSpace(def.Prompt) == "" {
		return errors.New("generationPrompt is empty; it must say which values belong on the list")
	}
	for _, s := range []string{def.Name, def.Principle, def.Prompt} {
		if err := plain(s); err != nil {
			return err
		}
	}
	if !refers(p, def.Name) {
		return errors.New("no rule refers to it")
	}
	return nil
}
