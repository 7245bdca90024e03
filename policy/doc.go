// Package policy judges the tool calls of an agent that is not trusted.
//
// A Call comes in as raw bytes. The engine decodes it strictly, checks it
// against the tool's schema, gives every argument its meaning (its roles),
// brings every path, URL and git remote into the one form in which it can be
// compared, and then asks: first the structural rules that no policy can
// change, then the compiled rules, for each role and each element on its own.
// The most restrictive answer wins, and what no rule speaks of is denied.
//
// The Verdict carries the canonical arguments. They are the only thing that
// may be forwarded: what was judged is what runs. The engine has two halves. The
// collector gathers the facts of a call: it reads the file system, each file of it once,
// to find out what a path names, and needs a clock only to know that a file has changed
// too lately for its times to be trusted. The judge is given the call and its facts, and
// is pure; a fact that could not be gathered is a denial. Neither uses the network or
// starts a program. The same call can therefore be judged again, after a person has
// thought about it, and the same code answers offline questions about a policy.
package policy
