// Package copies makes a copy of a person's directory for an agent to work in, where the engine
// does not see this machine's files, and lands in the directory what the agent changed in the copy.
//
// Make copies the directory and writes a note of the state that both sides have in common: the
// digest of each file. Difference compares the copy with that state, and where it differs also
// with the directory as it is now. Land writes those changes into the directory that nobody has
// made differently there, and notes them as common, so that the next Difference shows only what
// is new. A path that was changed on both sides is a conflict: it is listed, and both stay.
//
// The agent decides what is in the copy, and other agents may work in the person's directory. So
// only regular files, directories and links are copied, no link is followed on either side, and
// directories are opened one below the other. Nothing in .git is ever landed: commits stay in the
// copy.
package copies
