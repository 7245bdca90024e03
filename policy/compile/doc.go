// Package compile turns a constitution, a plain text in which a person says what
// their agents may do, into the rules of package policy.
//
// A language model reads the text and proposes; nothing that it says is taken on
// trust. For each server it is shown the constitution and the tools, and answers
// with rules. They are decoded as strictly as any policy, may speak only of this
// server's tools and roles, and must keep the invariants: no allowance without a
// limit, none that reaches the home directory or what is protected, none for
// every host. The values of the lists that the rules refer to are looked up by
// the model as well and checked one by one.
//
// Then the rules are tried. The engine judges, in a world made for this, calls
// that the model thought of with the decisions the constitution asks for, and
// calls that must never be allowed, written by hand or made from the tools'
// schemas. Calls about which no rule can decide anything are left out. While a
// call gets another decision than it should, the model is shown the failures and
// may change single rules, or correct calls of its own, three times. A server
// whose rules then still fail gets none, so that everything it offers is denied.
//
// The servers' rules are joined, all calls are judged once more by the whole, and
// only then the files are replaced, the policy last. Its digest is written beside
// the rules, and rules that are not those that were verified are not loaded.
package compile
