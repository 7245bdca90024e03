// Package compile turns a constitution, a plain text in which a person says what
// their agents may do, into the rules of package policy.
//
// A language model reads the text and proposes rules; nothing that it says is
// trusted. For each server the model sees the constitution and the tools, and answers
// with rules. The rules are decoded as strictly as any policy. They may name only this
// server's tools and roles, and must keep the invariants: a rule that allows must have a
// limit, and must not reach the whole home directory, anything protected, or every host.
// The model also looks up the values of the lists that the rules use, and each value is
// checked.
//
// Then the rules are tested in a temporary world. The engine judges calls that the model
// invented, each with the decision that the constitution asks for, and calls that must
// never be allowed, written by hand or made from the tools' schemas. Calls that no rule
// can decide are left out. While a call gets a wrong decision, the model is shown the
// failures and may change single rules or correct its own calls, at most three times. A
// server whose rules still fail then gets no rules, so all its calls are denied.
//
// The rules of all servers are joined, and all calls are judged again by the joined rules.
// Only then the files are replaced, the policy last. The policy contains a digest of its
// rules, and is not loaded when its rules are not the verified ones.
package compile
