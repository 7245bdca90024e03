// Package policy judges the tool calls of an agent that is not trusted.
//
// A Call comes in as raw bytes. The engine decodes it strictly, checks it against the
// tool's schema, and gives every argument its meaning (its roles). It brings every path,
// URL and git remote into one canonical form, so that they can be compared. Then it
// applies the rules to each role and each value separately: first the structural rules,
// which no policy can change, then the compiled rules. The most restrictive answer wins.
// A value that no rule covers is denied.
//
// The Verdict carries the canonical arguments. Only these may be forwarded, so the call
// that runs is the call that was judged.
//
// The engine has two halves. The collector gathers the facts of a call. It reads the file
// system, each file once, to find out what a path names. It needs a clock only to notice
// that a file changed so recently that its times cannot be trusted. The judge gets the
// call and its facts, and is pure. A call is denied when one of its facts could not be
// gathered. Neither half uses the network or starts a program. Therefore the same call
// can be judged again after a person has considered it, and the same code answers offline
// questions about a policy.
package policy
