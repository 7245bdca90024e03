package policy

import (
	"slices"
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
	for _, role := range p.roles {
		if !role.Judged() {
			p.holdBack(role, &o)
		}
	}
	for _, r := range p.tool.rules {
		if r.loose && p.holds(r, "") {
			o.worsen(r.outcome(""))
		}
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
		if p.free(el) {
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
		return p.scan(role), !p.passesOver(p.first(role), role)
	}
	if sandboxed > 0 {
		o.rule, o.reason = RuleSandbox, "the files lie inside the sandbox"
	}
	p.applyRules(role, open, &o)
	return o, true
}

// free reports whether a path needs no rule, because it lies in the sandbox.
func (p *preparation) free(el *element) bool {
	return el.path && el.sandbox && p.tool.traits.SandboxFiles
}

// applyRules goes through the rules until every open element of the role is
// discharged. What remains is denied.
func (p *preparation) applyRules(role Role, open []int, o *outcome) {
	for _, r := range p.tool.rules {
		if len(open) == 0 {
			return
		}
		if !r.takesPart(role) || !p.holds(r, role) {
			continue
		}
		open = p.discharge(r, role, open, o)
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

// discharge has a rule speak of those open elements of the role that it covers, and
// returns the others.
func (p *preparation) discharge(r *rule, role Role, open []int, o *outcome) (rest []int) {
	before := len(open)
	rest = open[:0]
	for _, i := range open {
		if !r.covers(role, &p.elements[i]) {
			rest = append(rest, i)
			continue
		}
		o.trace = append(o.trace, p.elements[i].step(r.name, r.then))
	}
	if len(rest) < before {
		o.worsen(r.outcome(role))
	}
	return rest
}

// first finds the first rule that holds for a call, or a role of it, that has
// no values, or nil. Conditions on values do not hold.
func (p *preparation) first(role Role) *rule {
	for _, r := range p.tool.rules {
		if r.divides() || (role != "" && !r.takesPart(role)) {
			continue
		}
		if p.holds(r, role) {
			return r
		}
	}
	return nil
}

// scan judges a call, or a role of it, that has no values.
func (p *preparation) scan(role Role) outcome {
	if r := p.first(role); r != nil {
		return r.outcome(role)
	}
	return outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows %s/%s", p.call.Server, p.call.Tool)}
}

// holdBack judges a role that needs no allowance, such as the name of a branch: the
// rules that name it may still hold the call back. The first that speaks of a value
// has the word, as with every other role.
func (p *preparation) holdBack(role Role, o *outcome) {
	var open []int
	for i := range p.elements {
		if p.elements[i].role == role {
			open = append(open, i)
		}
	}
	absent := len(open) == 0
	for _, r := range p.tool.rules {
		switch {
		case !r.takesPart(role) || r.then != Allow && !r.names(role) || !p.holds(r, role):
		case absent && r.divides():
		case absent && r.then == Allow:
			return
		case absent:
			o.worsen(r.outcome(role))
			return
		case r.then == Allow:
			open = slices.DeleteFunc(open, func(i int) bool { return r.covers(role, &p.elements[i]) })
		default:
			open = p.discharge(r, role, open, o)
		}
		if !absent && len(open) == 0 {
			return
		}
	}
}

// holds reports whether a rule holds for the call while the role is judged, but for what
// divides the values of the role. A rule that allows must hold for all values; one that
// holds back, for any: it then speaks of those that it covers.
func (p *preparation) holds(r *rule, role Role) bool {
	if role.IsURL() && r.then == Allow && !slices.Contains(r.addresses, role) && p.hasValue(role) {
		return false // an address is allowed by a rule that speaks of addresses, or not at all
	}
	for i := range r.tests {
		t := &r.tests[i]
		switch {
		case t.call != nil:
			if !t.call(p.roles, p.args) {
				return false
			}
		case t.each && slices.Contains(t.roles, role): // covers asks of each value
		case !p.passes(t, r.then, role):
			return false
		}
	}
	return true
}

// covers reports whether a rule that holds speaks of one value of the role.
func (r *rule) covers(role Role, el *element) bool {
	for i := range r.tests {
		t := &r.tests[i]
		if !t.each && r.then == Allow || !slices.Contains(t.roles, role) {
			continue // hosts and lists hold for all values
		}
		if !t.match(el) {
			return false
		}
	}
	return true
}

func (p *preparation) hasValue(role Role) bool {
	return slices.ContainsFunc(p.elements, func(el element) bool { return el.role == role })
}

// passes judges one test of values: over the values of the role when it names the role,
// else over those of its own roles. A rule that allows wants all to match, any other rule
// one.
func (p *preparation) passes(t *test, then Decision, role Role) bool {
	own := slices.Contains(t.roles, role)
	found := false
	for i := range p.elements {
		el := &p.elements[i]
		if own && el.role != role || !own && !slices.Contains(t.roles, el.role) {
			continue
		}
		matches := !(t.each && p.free(el)) && t.match(el)
		if matches && then != Allow {
			return true
		}
		if !matches && then == Allow {
			return false
		}
		found = true
	}
	return found && then == Allow
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
