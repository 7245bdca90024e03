// Package docker runs agents in containers that hold nothing worth stealing.
//
// It finds the engine that a person has named (Choice), or else the way the docker command
// does (Choice.Resolve), makes sure the agent's image exists (EnsureImage: Dockerfiles
// from the binary, tagged by the hash of their content, built at most once at a time),
// starts a hardened container from it (Start: no network, no capabilities, a read-only
// root, bounded memory, processes and processor time) and hands out the byte stream of its
// terminal (Container). A container whose program needs no terminal of the engine's is
// started with StartDetached and is a Handle; Stream runs another program in it and is the
// connection to that one, which needs nothing that the host and the container share. Every
// container carries labels, so that containers that outlive their owner are found and
// removed (RemoveLabeled, Reap).
//
// Where the engine does not see this machine's files, a session's are in volumes
// (CreateVolume, Volumes, RemoveVolume), and what cannot be mounted is a layer on the agent's
// image (EnsureLayer).
//
// Package docker/ssh leads to engines of other machines (ssh:// addresses). This package only says
// what its errors mean for an engine, and finds out whether a machine forwards sockets.
//
// The package is the only user of go-dockerclient and none of that library's
// types leave it. The library has known problems; each is handled in one place:
//
//   - the detach keys of an attachment do not reach the engine, and its copier
//     blocks on its input after the container ended: attach sends the request
//     itself and uses the connection as the terminal;
//   - a refused exec looks like success and its error arrives as output:
//     handshakeConn reads the engine's status line itself, and Stream asks the engine
//     whether a program ran whose first words could be such an error;
//   - attach, resize and exec inspection take no context: every call goes
//     through a client bound to the caller's context, every attach through a
//     connection this package owns;
//   - a terminal starts with size 0×0: Spec.command sets it before the agent runs;
//   - its events may be lost or come out of order: this package asks for the
//     state instead;
//   - it does not know contexts and the sockets of rootless engines and Docker
//     Desktop: Choice.Resolve finds them;
//   - waiting races automatic removal: the engine never removes containers by
//     itself, only Remove and Reap do;
//   - a missing host path of a mount is created silently: Spec.validate
//     refuses it.
package docker
