// Package docker runs agents in containers that hold nothing worth stealing.
//
// It finds the engine the way the docker command does (ResolveEndpoint), makes
// sure the agent's image exists (EnsureImage: Dockerfiles from the binary,
// tagged by the hash of their content, built at most once at a time), starts a
// hardened container from it (Start: no network, no capabilities, a read-only
// root, bounded memory, processes and processor time) and hands out the byte
// stream of its terminal (Container). Every container carries labels, so that
// whatever outlives its owner is found and removed (RemoveLabeled, Reap).
//
// The package is the only user of go-dockerclient and none of that library's
// types leave it. The library has known traps; each is dealt with in one place:
//
//   - the detach keys of an attachment do not reach the engine, and its copier
//     hangs on its input after the end: attach speaks to the engine itself, and
//     the connection is the terminal;
//   - a refused exec looks like success and its error arrives as output:
//     handshakeConn reads the engine's status line itself;
//   - attach, resize and exec inspection take no context: every call goes
//     through a client bound to the caller's context, every attach through a
//     connection this package owns;
//   - a terminal starts with size 0×0: Spec.command sets it before the agent runs;
//   - events are lossy and unordered: nothing here depends on them, state is
//     asked for again;
//   - contexts and the sockets of rootless engines and Docker Desktop are
//     unknown to it: ResolveEndpoint;
//   - waiting races automatic removal: containers are never removed by the
//     engine itself, only by Remove and Reap;
//   - a missing host path of a mount is created silently: Spec.validate
//     refuses it.
package docker
