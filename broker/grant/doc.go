// Package grant keeps grants: approvals that a person gave beforehand, for one session,
// within a stated scope, until a stated time.
//
// A grant answers only calls that the policy has escalated: a denial stays a denial, and a call
// that a structural rule escalated always waits for a person. Scopes are narrow. Each is made from
// one call that a person saw, describes in full what it would let through, and compares canonical
// judged values: every value, flag, number and mode must be the same; only arguments that are free
// text may differ. Grants end with the session's life. Until then, a file beside the session's
// record has them as well: if the process is killed and the agent taken back, they stay in force
// for the rest of their time.
package grant
