// Package gitserver has the servers that tests of git talk to: the real ones, on this machine.
//
// HTTP shows the repositories below a directory as a host does, with git's own program behind
// it, and Private puts a login before them. StartSSHD runs an sshd until the test ends. What a
// person has configured for such a server, their keys and known hosts, is the test's to write.
package gitserver
