// Package gitserver has the servers that tests of git talk to: the real ones, on this machine.
//
// HTTP shows the repositories below a directory as a host does, with git's own program behind
// it, and Private puts a login before them. StartSSHD runs an sshd until the test ends. Person is
// whoever asks them; what they have configured for a server is the test's to write.
package gitserver
