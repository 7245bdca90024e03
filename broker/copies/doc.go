// Package copies makes the copy of a person's directory that an agent works in where the
// engine does not see this machine's files, and brings home what the agent changed there.
//
// Make copies the directory and keeps a note of the state that both sides have in common:
// the digest of each file. Difference compares the copy with that state, and what differs
// with the directory as it is now. Land writes into the directory what nobody has changed
// there since, and notes it as common, so that the next Difference shows only what is new.
// What was changed on both sides is a conflict: it is listed, and both stay as they are.
//
// The agent decides what is in the copy, and other agents may work in the person's
// directory. So there are only regular files, directories and links; no link is followed on
// either side; and everything is read and written through directories that were opened one
// below the other. Nothing of git's own (.git) is ever landed: commits stay in the copy.
package copies
