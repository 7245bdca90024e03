// Package fakeengine models, for tests, container engines that a test machine does
// not have: Docker Desktop, OrbStack, Colima, a Podman machine, an engine far away.
//
// Start puts a proxy before the machine's real engine. A client reaches it at
// Address and finds a whole engine behind it, but one with the faults that a test
// asks for, and Set changes them while everything runs. Bytes pass two stages:
//
//   - the line (line.go) carries the bytes of each connection, and knows nothing of
//     what they mean: it delays them, throttles them, stops, and drops the idle;
//   - the proxy (proxy.go) reads requests and answers as HTTP. It rewrites what an
//     engine is asked to create (create.go, binds.go) and what it says of itself
//     (info.go). Where attaching and executing turn a connection into a byte stream
//     (stream.go), it can cut that, lose its end, or never end it.
//
// StartSSH (sshd.go) has a server of ssh between the line and the proxy.
//
// Everything ends with the test.
package fakeengine
