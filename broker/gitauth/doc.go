// Package gitauth lets git in a sandbox use the person's login at one remote, for one call. The
// login itself is never in the sandbox.
//
// A person has approved a call: push this repository, or fetch from it. Git runs in a sandbox, with
// hooks, filters and other programs that the repository may name. These programs could read
// everything that git can read there, and write it into the workspace. With a credential helper or
// an SSH agent's socket in the sandbox, they could also do more than was approved: fetch the
// person's other repositories, or log in to a shell.
//
// So git's connection ends at a Gate on the host, which belongs to the call. The sandbox runtime
// passes every connection to the approved host to the gate's socket, and allows no other
// connections. For HTTPS, the gate is a proxy that forwards git's requests for the approved
// repository, in the approved direction, and adds the credential, which Fill has got from the
// person's credential helper. For SSH, the gate runs ssh on the host with fixed arguments. This ssh
// knows only the host's keys from the person's known_hosts, and uses an SSH agent of ours. That
// agent forwards only one kind of request to the person's agent: to sign a login with the approved
// name at a server that has proved to have one of these keys.
//
// Commits that were made in a sandbox get the person's signature in a similar way. Sign gets the
// bytes of a commit and returns them with the signature, so that the sandbox has no access to the
// key and the host none to the agent's repository. A Replacer compares a commit with the approved
// one, gets it signed, and lets git in the sandbox replace it.
package gitauth
