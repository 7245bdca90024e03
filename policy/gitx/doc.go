// Package gitx finds out where git would connect to and which directories it
// would use, without running git.
//
// A repository that an untrusted program can write to is a program: its
// configuration can rewrite addresses, name several of them, name a different
// one for pushing, start commands and move the repository itself elsewhere.
// Running git to ask would run that program. This package reads the
// configuration files itself, with git's own grammar and precedence, and
// resolves the name of a remote to every URL git would contact, rewriting
// rules applied. It refuses what it cannot follow safely: includes in a
// repository's own configuration, remote helpers, local paths, values that
// look like options. It also tells which files git would run or obey because a
// configuration names them.
package gitx
