package policy

import (
	"slices"
	"strings"
)

// decide judges the prepared call: the structural escalations, then every
// role on its own. The most severe outcome wins.
func (e *Engine) decide(p *preparation) outcome {
	o := outcome{decision: Allow}
	judged := false
	for _, role := range p.roles {
		if !role.Judged() {
			continue
		}
		if got, ok := p.judgeRole(role); ok {
			judged = true
			o.worsen(got)
		}
	}
	if !judged {
		o.worsen(p.scan(""))
	}
	if o.decision == Deny {
		return o
	}
	e.gate(p, &o)
	p.unseenHosts(&o)
	p.hostExecution(&o)
	return o
}

// judgeRole judges all values of one role. It reports false when the role has
// nothing to say: an optional path that the call leaves out touches nothing.
func (p *preparation) judgeRole(role Role) (outcome, bool) {
	o := outcome{decision: Allow}
	open := make([]int, 0, 8)
	total, sandboxed := 0, 0
	for i := range p.elements {
		el := &p.elements[i]
		if el.role != role {
			continue
		}
		total++
		if el.path && el.sandbox && p.tool.traits.SandboxFiles {
			sandboxed++
			o.trace = append(o.trace, el.step(RuleSandbox, Allow))
			continue
		}
		open = append(open, i)
	}
	if total == 0 {
		if role.IsPath() && p.tool.traits.SandboxFiles {
			return o, false
		}
		return p.scan(role), true
	}
	if sandboxed > 0 {
		o.rule, o.reason = RuleSandbox, "the files lie inside the sandbox"
	}
	p.applyRules(role, open, &o)
	return o, true
}

// applyRules goes through the rules until every open element of the role is
// discharged. What remains is denied.
func (p *preparation) applyRules(role Role, open []int, o *outcome) {
	for _, r := range p.tool.rules {
		if len(open) == 0 {
			return
		}
		if !r.when.TakesPart(role) || !p.holds(r, role) {
			continue
		}
		rest := open[:0]
		discharged := false
		for _, i := range open {
			if r.paths != nil && !r.paths.contains(p.elements[i].text) {
				rest = append(rest, i)
				continue
			}
			discharged = true
			o.trace = append(o.trace, p.elements[i].step(r.name, r.then))
		}
		open = rest
		if discharged {
			o.worsen(r.outcome(role))
		}
	}
	if len(open) == 0 {
		return
	}
	denial := outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows the %s of %s/%s", role, p.call.Server, p.call.Tool)}
	for _, i := range open {
		denial.trace = append(denial.trace, p.elements[i].step(RuleDefault, Deny))
	}
	o.worsen(denial)
}

// scan finds the first rule that holds for a call, or a role of it, that has
// no values. Conditions on values do not hold.
func (p *preparation) scan(role Role) outcome {
	for _, r := range p.tool.rules {
		if r.paths != nil || r.domains != nil || (role != "" && !r.when.TakesPart(role)) {
			continue
		}
		if p.holds(r, role) {
			return r.outcome(role)
		}
	}
	return outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows %s/%s", p.call.Server, p.call.Tool)}
}

// holds reports whether everything but the directory of a rule holds for the
// call while the role is judged.
func (p *preparation) holds(r *rule, role Role) bool {
	if r.when.Roles != nil && !slices.ContainsFunc(p.roles, func(x Role) bool { return slices.Contains(r.when.Roles, x) }) {
		return false
	}
	if role.IsURL() && r.then == Allow && !r.namesDomains(role) && p.hasValue(role) {
		return false // an address is allowed by a rule that speaks of addresses, or not at all
	}
	if r.domains != nil && !p.allMatch(role, func(el *element) bool { return matchAny(r.domains.patterns, el, r.then) }) {
		return false
	}
	for _, l := range r.lists {
		if !p.listHolds(l, r.then, role) {
			return false
		}
	}
	return true
}

// namesDomains reports whether the rule restricts the hosts of the role.
func (r *rule) namesDomains(role Role) bool {
	if r.domains != nil && slices.Contains(r.domains.roles, role) {
		return true
	}
	return slices.ContainsFunc(r.lists, func(l listRule) bool { return l.match == "domains" && slices.Contains(l.roles, role) })
}

func (p *preparation) hasValue(role Role) bool {
	return slices.ContainsFunc(p.elements, func(el element) bool { return el.role == role })
}

// allMatch reports whether the role has values and all of them match.
func (p *preparation) allMatch(role Role, match func(*element) bool) bool {
	found := false
	for i := range p.elements {
		if p.elements[i].role != role {
			continue
		}
		if !match(&p.elements[i]) {
			return false
		}
		found = true
	}
	return found
}

// listHolds judges one list condition: over the values of the role when it
// names the role, else over those of its own roles.
func (p *preparation) listHolds(l listRule, then Decision, role Role) bool {
	match := func(el *element) bool { return l.matches(el, then) }
	if slices.Contains(l.roles, role) {
		return p.allMatch(role, match)
	}
	found := false
	for _, own := range l.roles {
		if !p.hasValue(own) {
			continue
		}
		if !p.allMatch(own, match) {
			return false
		}
		found = true
	}
	return found
}

func (l *listRule) matches(el *element, then Decision) bool {
	switch l.match {
	case "domains":
		return matchAny(l.patterns, el, then)
	case "emails":
		return slices.ContainsFunc(l.values, func(v string) bool { return equalMail(v, el.text) })
	}
	return slices.Contains(l.values, el.text)
}

// equalMail compares addresses of mail without regard to the case of ASCII
// letters. What else Unicode folds into them, such as the long s, makes another
// address.
func equalMail(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}

// outcome is what the rule makes of a role.
func (r *rule) outcome(role Role) outcome {
	reason := r.reason
	if reason == "" {
		reason = "rule " + r.name
	}
	o := outcome{decision: r.then, rule: r.name, reason: reason}
	if r.then == Escalate && role != "" {
		o.roles = []string{string(role)}
	}
	return o
}

func (el *element) step(rule string, d Decision) Step {
	return Step{Argument: el.argument, Role: string(el.role), Value: sanitize(el.text), Rule: rule, Decision: d}
}
