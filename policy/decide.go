package policy

import "slices"

// decide judges the prepared call: the structural escalations, then every
// role on its own. The most severe outcome wins.
func (j *judge) decide(f *facts) outcome {
	o := outcome{decision: Allow}
	judged := false
	for _, role := range f.roles {
		if !role.Judged() {
			continue
		}
		if got, ok := f.judgeRole(role); ok {
			judged = true
			o.worsen(got)
		}
	}
	if !judged {
		o.worsen(f.scan(""))
	}
	for _, role := range f.roles {
		if !role.Judged() {
			f.holdBack(role, &o)
		}
	}
	for _, r := range f.tool.rules {
		if r.loose && f.holds(r, "") {
			o.worsen(r.outcome(""))
		}
	}
	if o.decision == Deny {
		return o
	}
	j.gate(f, &o)
	f.unseenHosts(&o)
	f.hostExecution(&o)
	return o
}

// judgeRole judges all values of one role. It reports false when the role has
// nothing to say: an optional path that the call leaves out touches nothing.
func (f *facts) judgeRole(role Role) (outcome, bool) {
	o := outcome{decision: Allow}
	open := make([]int, 0, 8)
	total, sandboxed := 0, 0
	for i := range f.elements {
		el := &f.elements[i]
		if el.role != role {
			continue
		}
		total++
		if f.free(el) {
			sandboxed++
			o.trace = append(o.trace, el.step(RuleSandbox, Allow))
			continue
		}
		open = append(open, i)
	}
	if total == 0 {
		if role.IsPath() && f.tool.traits.SandboxFiles {
			return o, false
		}
		return f.scan(role), !f.passesOver(f.first(role), role)
	}
	if sandboxed > 0 {
		o.rule, o.reason = RuleSandbox, "the files lie inside the sandbox"
	}
	f.applyRules(role, open, &o)
	return o, true
}

// free reports whether a path needs no rule, because it lies in the sandbox.
func (f *facts) free(el *element) bool {
	return el.path && el.sandbox && f.tool.traits.SandboxFiles
}

// applyRules goes through the rules until every open element of the role is
// discharged. What remains is denied.
func (f *facts) applyRules(role Role, open []int, o *outcome) {
	for _, r := range f.tool.rules {
		if len(open) == 0 {
			return
		}
		if !r.takesPart(role) || !f.holds(r, role) {
			continue
		}
		open = f.discharge(r, role, open, o)
	}
	if len(open) == 0 {
		return
	}
	denial := outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows the %s of %s/%s", role, f.call.Server, f.call.Tool)}
	for _, i := range open {
		denial.trace = append(denial.trace, f.elements[i].step(RuleDefault, Deny))
	}
	o.worsen(denial)
}

// discharge has a rule speak of those open elements of the role that it covers, and
// returns the others.
func (f *facts) discharge(r *rule, role Role, open []int, o *outcome) (rest []int) {
	before := len(open)
	rest = open[:0]
	for _, i := range open {
		if !r.covers(role, &f.elements[i]) {
			rest = append(rest, i)
			continue
		}
		o.trace = append(o.trace, f.elements[i].step(r.name, r.then))
	}
	if len(rest) < before {
		o.worsen(r.outcome(role))
	}
	return rest
}

// first finds the first rule that holds for a call, or a role of it, that has
// no values, or nil. Conditions on values do not hold.
func (f *facts) first(role Role) *rule {
	for _, r := range f.tool.rules {
		if r.divides() || (role != "" && !r.takesPart(role)) {
			continue
		}
		if f.holds(r, role) {
			return r
		}
	}
	return nil
}

// passesOver reports whether a rule that asks before a remote is contacted has nothing to
// ask of a call that only tells which remotes there are. The files that it reads are judged
// by their own role, and a rule that names the tool speaks of all that the tool does.
func (f *facts) passesOver(r *rule, role Role) bool {
	return r != nil && r.then == Escalate && role == GitRemote && !slices.Contains(Find[Tools](r.when), f.tool.key.tool) && f.tellsRemotes
}

// scan judges a call, or a role of it, that has no values.
func (f *facts) scan(role Role) outcome {
	if r := f.first(role); r != nil {
		return r.outcome(role)
	}
	return outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows %s/%s", f.call.Server, f.call.Tool)}
}

// holdBack judges a role that needs no allowance, such as the name of a branch: the
// rules that name it may still hold the call back. The first that speaks of a value
// has the word, as with every other role.
func (f *facts) holdBack(role Role, o *outcome) {
	var open []int
	for i := range f.elements {
		if f.elements[i].role == role {
			open = append(open, i)
		}
	}
	absent := len(open) == 0
	for _, r := range f.tool.rules {
		switch {
		case !r.takesPart(role) || r.then != Allow && !r.names(role) || !f.holds(r, role):
		case absent && r.divides():
		case absent && r.then == Allow:
			return
		case absent:
			o.worsen(r.outcome(role))
			return
		case r.then == Allow:
			open = slices.DeleteFunc(open, func(i int) bool { return r.covers(role, &f.elements[i]) })
		default:
			open = f.discharge(r, role, open, o)
		}
		if !absent && len(open) == 0 {
			return
		}
	}
}

// holds reports whether a rule holds for the call while the role is judged, but for what
// divides the values of the role. A rule that allows must hold for all values; one that
// holds back, for any: it then speaks of those that it covers.
func (f *facts) holds(r *rule, role Role) bool {
	if role.IsURL() && r.then == Allow && !slices.Contains(r.addresses, role) && f.hasValue(role) {
		return false // an address is allowed by a rule that speaks of addresses, or not at all
	}
	for i := range r.tests {
		t := &r.tests[i]
		switch {
		case t.call != nil:
			if !t.call(f.roles, f.args) {
				return false
			}
		case t.each && slices.Contains(t.roles, role): // covers asks of each value
		case !f.passes(t, r.then, role):
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

// passes judges one test of values: over the values of the role when it names the role,
// else over those of its own roles. A rule that allows wants all to match, any other rule
// one.
func (f *facts) passes(t *test, then Decision, role Role) bool {
	own := slices.Contains(t.roles, role)
	found := false
	for i := range f.elements {
		el := &f.elements[i]
		if own && el.role != role || !own && !slices.Contains(t.roles, el.role) {
			continue
		}
		matches := !(t.each && f.free(el)) && t.match(el)
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
