// Package docker runs agents in containers that hold nothing worth stealing.
//
// It finds the engine that a person has named (Choice), or else as the docker command does
// (Choice.Resolve). It makes sure that the agent's image exists (EnsureImage: Dockerfiles embedded
// in the program, tagged by the hash of their content, built by one process at a time). From the
// image it starts a hardened container (Start: no network, no capabilities, a read-only root,
// bounded memory, processes and processor time), and returns the byte stream of its terminal
// (Container). StartDetached starts a container without a terminal and returns a Handle. Stream
// runs another program in a container and returns a connection to it, for which host and container
// need to share nothing. Every container carries labels, so that containers that outlive their
// owner are found and removed (RemoveLabeled, Reap).
//
// If the engine does not see this machine's files, a session's files are in volumes (CreateVolume,
// Volumes, RemoveVolume), and files that cannot be mounted are in a layer on the agent's image
// (EnsureLayer).
//
// Package docker/ssh connects to engines on other machines (ssh:// addresses). This package only
// translates its errors, and finds out whether a machine forwards sockets.
//
// The package is the only user of go-dockerclient and none of that library's
// types leave it. The library has known problems; each is handled in one place:
//
//   - the detach keys of an attachment do not reach the engine, and its copier
//     blocks on its input after the container ended: attach sends the request
//     itself and uses the connection as the terminal;
//   - a refused exec looks like success and its error arrives as output: judgeAnswer reads the
//     engine's status line itself, and when a program's first output could be such an error,
//     Stream asks the engine whether the program ran;
//   - attach, resize and exec inspection take no context: every call goes
//     through a client bound to the caller's context, every attach through a
//     connection this package owns;
//   - a terminal starts with size 0×0: Spec.command sets it before the agent runs;
//   - its events may be lost or come out of order: this package asks for the
//     state instead;
//   - it knows neither docker contexts nor the sockets of rootless engines and Docker
//     Desktop: Choice.Resolve finds them;
//   - waiting races with automatic removal: the engine never removes containers by
//     itself, only Remove and Reap do;
//   - a missing host path of a mount is created silently: Spec.validate
//     refuses it.
package docker
