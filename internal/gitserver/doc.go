// Package gitserver has real git servers on this machine, for tests.
//
// HTTP serves the repositories below a directory with git's own program, and Private requires a
// login for them. StartSSHD runs an sshd until the test ends. Person sets up the home of the person
// who connects; the test adds the configuration for a server.
package gitserver
