// Package gitauth lets git in a sandbox use the person's login at one remote, for one call,
// without the login ever being in the sandbox.
//
// A person has approved a call: push this repository, or fetch from it. Git runs in a
// sandbox, beside hooks, filters and other programs that the repository may name, so
// whatever git could read there they could read too, and write into the workspace. A
// credential helper or an agent's socket in the sandbox would also let them do more than
// was approved: fetch the person's other repositories, or log in to a shell.
//
// So git's connection ends at a Gate on the host, which belongs to the call. The sandbox
// runtime hands every connection to the approved host to the gate's socket and has no other
// way out. Over HTTPS the gate is a proxy that lets through git's own requests for the
// approved repository, in the approved direction, and adds the credential. Fill has asked
// the person's credential helper for it. Over SSH the gate runs the host's ssh with
// arguments that are fixed by the call. This ssh knows only the host's keys from the
// person's known_hosts, and an agent of ours: it forwards to the person's agent what signs
// a login with the approved name at a server that has proved to hold one of these keys, and
// refuses the rest.
//
// Commits that were made in a sandbox get the person's signature in the same way: Sign is
// given the bytes of a commit and returns them with the signature, and neither the key nor
// the agent's repository is opened to the other side. A Replacer compares a commit with the
// approved one, has it signed, and lets git in the sandbox put the result in its place.
package gitauth
