// Package decisions is the commands about single calls: those that wait, which a person approves
// or denies; the grants that stand for such decisions, which a person revokes; and the audit log,
// in which all of it can be read again.
package decisions
