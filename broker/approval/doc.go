// Package approval holds the calls that wait for a person.
//
// A call that the policy escalates asks the queue and waits. The queue gives
// it a number that people can type, an identity that programs use, and a
// deadline. From then on exactly one of four things happens to it: a person
// approves it, a person denies it, its deadline passes, or the caller goes
// away. The first of these settles it; later answers learn which one that was. An
// answer must carry the digest of the call it was given for, so that an approval
// can never be spent on anything but what was shown.
//
// Whoever carries calls out tells the queue what became of each, and the queue tells
// everybody: an approval is no promise that the call was done.
//
// A call whose process was killed while it waited can be put back: the next
// caller of the very same call takes it over, with its answer if there is one.
package approval
