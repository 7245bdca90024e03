package policy

import "slices"

// decide judges the prepared call: every role by itself, then the structural
// escalations. The most severe outcome wins.
func (j *judge) decide(f *facts) outcome {
	o := outcome{decision: Allow}
	judged := false
	for _, role := range f.roles {
		if !role.Judged() {
			continue
		}
		if got, ok := f.judgeRole(role); ok {
			judged = true
			o.merge(got)
		}
	}
	if !judged {
		o.merge(f.judgeWithoutValues(""))
	}
	for _, role := range f.roles {
		if !role.Judged() {
			f.restrict(role, &o)
		}
	}
	for _, r := range f.tool.rules {
		if r.wholeCall && f.applies(r, "") {
			o.merge(r.outcome(""))
		}
	}
	if o.decision == Deny {
		return o
	}
	j.gate(f, &o)
	f.unseenHosts(&o)
	f.hostExecution(&o)
	f.signing(&o)
	return o
}

// judgeRole judges all values of one role. It returns false when the role does not
// matter, for example because the call leaves out an optional path and so touches nothing.
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
		return f.judgeWithoutValues(role), !f.skipsListing(f.first(role), role)
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

// applyRules applies the rules in order until every open element of the role is decided.
// The remaining elements are denied.
func (f *facts) applyRules(role Role, open []int, o *outcome) {
	for _, r := range f.tool.rules {
		if len(open) == 0 {
			return
		}
		if !r.takesPart(role) || !f.applies(r, role) {
			continue
		}
		open = f.applyRule(r, role, open, o)
	}
	if len(open) == 0 {
		return
	}
	undecided := f.undecided(role)
	for _, i := range open {
		undecided.trace = append(undecided.trace, f.elements[i].step(undecided.rule, undecided.decision))
	}
	o.merge(undecided)
}

// undecided is the outcome for a role that no rule covers; an empty role is the whole call.
// It is a denial; for the servers in Config.Asking it is an escalation.
func (f *facts) undecided(role Role) outcome {
	what := f.call.Server + "/" + f.call.Tool
	if role != "" {
		what = "the " + string(role) + " of " + what
	}
	if !f.tool.asks {
		return outcome{decision: Deny, rule: RuleDefault, reason: describe("no rule allows %s", what)}
	}
	o := outcome{decision: Escalate, rule: RuleUndecided, reason: describe("no rule covers %s", what)}
	if role != "" {
		o.roles = []string{string(role)}
	}
	return o
}

// applyRule applies a rule to those open elements of the role that it covers, and returns
// the other elements.
func (f *facts) applyRule(r *rule, role Role, open []int, o *outcome) (rest []int) {
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
		o.merge(r.outcome(role))
	}
	return rest
}

// first returns the first rule that applies to a call without values, or to a role of it
// without values. It returns nil if there is none. Conditions on values are false then.
func (f *facts) first(role Role) *rule {
	for _, r := range f.tool.rules {
		if r.perValue() || (role != "" && !r.takesPart(role)) {
			continue
		}
		if f.applies(r, role) {
			return r
		}
	}
	return nil
}

// skipsListing reports whether a rule about contacting remotes does not apply to a call
// because that call only lists the remotes. The files that the call reads are judged by
// their own role. A rule that names the tool applies to everything that the tool does.
func (f *facts) skipsListing(r *rule, role Role) bool {
	return r != nil && r.then == Escalate && role == GitRemote && !slices.Contains(Find[Tools](r.when), f.tool.key.tool) && f.listsRemotes
}

// judgeWithoutValues judges a call without values, or a role of it without values.
func (f *facts) judgeWithoutValues(role Role) outcome {
	if r := f.first(role); r != nil {
		return r.outcome(role)
	}
	return f.undecided("")
}

// restrict judges a role that no rule needs to allow, such as the name of a branch. Rules
// that name the role can still escalate or deny the call. As with every other role, the
// first rule that covers a value decides about it.
func (f *facts) restrict(role Role, o *outcome) {
	var open []int
	for i := range f.elements {
		if f.elements[i].role == role {
			open = append(open, i)
		}
	}
	absent := len(open) == 0
	for _, r := range f.tool.rules {
		switch {
		case !r.takesPart(role) || r.then != Allow && !r.names(role) || !f.applies(r, role):
		case absent && r.perValue():
		case absent && r.then == Allow:
			return
		case absent:
			o.merge(r.outcome(role))
			return
		case r.then == Allow:
			open = slices.DeleteFunc(open, func(i int) bool { return r.covers(role, &f.elements[i]) })
		default:
			open = f.applyRule(r, role, open, o)
		}
		if !absent && len(open) == 0 {
			return
		}
	}
}

// applies reports whether a rule applies to the call while the role is judged. It leaves
// out tests that look at each value of the role separately; covers makes those. For a
// rule that allows, all values must match. For other rules one match is enough; such a
// rule then decides about the values that it covers.
func (f *facts) applies(r *rule, role Role) bool {
	if role.IsURL() && r.then == Allow && !slices.Contains(r.addresses, role) && f.hasValue(role) {
		return false // only a rule that limits addresses can allow an address
	}
	for i := range r.tests {
		t := &r.tests[i]
		switch {
		case t.call != nil:
			if !t.call(f.roles, f.args) {
				return false
			}
		case t.each && slices.Contains(t.roles, role): // covers tests each value
		case !f.passes(t, r.then, role):
			return false
		}
	}
	return true
}

// covers reports whether a rule that applies to the call decides about one value of the role.
func (r *rule) covers(role Role, el *element) bool {
	for i := range r.tests {
		t := &r.tests[i]
		if !t.each && r.then == Allow || !slices.Contains(t.roles, role) {
			continue // applies has tested hosts and lists on all values
		}
		if !t.match(el) {
			return false
		}
	}
	return true
}

// passes runs one test of values: on the values of the judged role if the test names that
// role, otherwise on the values of the roles that it names. For a rule that allows, all
// values must match; for any other rule, one is enough.
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

// outcome is the rule's decision about a role.
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
