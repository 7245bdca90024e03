// Package approval holds the calls that wait for a person.
//
// A call that the policy escalates asks the queue and waits. The queue gives
// it a number that people can type, an identity that programs use, and a
// deadline. From then on exactly one of four things happens to it: a person
// approves it, a person denies it, its deadline passes, or the caller goes
// away. The first of these settles the call; later answers learn the outcome. An
// answer must carry the digest of its call, so that an approval applies only to the
// call that was shown.
//
// The package that carries out a call reports to the queue how the call ended, and the
// queue reports it to all subscribers, because an approved call can still fail.
//
// A call that waited when its process was killed can be put back. The next caller of
// exactly the same call takes it over, with its answer if there is one.
package approval
