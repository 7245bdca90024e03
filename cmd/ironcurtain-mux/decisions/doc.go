// Package decisions has the commands about single calls: they list waiting calls and approve or
// deny them, list and revoke grants, manage answer tokens, and read the audit log.
package decisions
