// Package fakeengine models, for tests, container engines that a test machine does
// not have: Docker Desktop, OrbStack, Colima, a Podman machine, an engine far away.
//
// Start puts a proxy in front of the machine's real engine. A client that connects to
// Address finds a complete engine, but with the faults that the test wants. Set changes
// the faults at any time. Bytes pass two stages:
//
//   - the line (line.go) carries the bytes of each connection without reading them: it
//     delays and throttles them, stalls, and drops idle connections;
//   - the proxy (proxy.go) reads requests and answers as HTTP. It rewrites requests to
//     create containers (create.go, binds.go) and what the engine reports about itself
//     (info.go). When attach or exec turns a connection into a byte stream (stream.go),
//     the proxy can cut the stream, lose its last bytes, or never end it.
//
// StartSSH (sshd.go) puts an ssh server between the line and the proxy.
//
// Everything ends with the test.
package fakeengine
