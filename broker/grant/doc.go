// Package grant holds what a person allowed beforehand: for one session, within
// a stated scope, until a stated time.
//
// A grant answers a call that the policy has escalated, and nothing else: a
// denial stays a denial, and a call that a structural rule escalated is always
// for a person. Scopes are narrow. Each is made from one call that a person saw,
// says in full what it would let through, and compares canonical judged values:
// every value the call names, every flag, number and mode must be as it was; only
// arguments that are text and nothing else may differ. Grants live in memory
// and end with their session.
package grant
