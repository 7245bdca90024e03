// Package gitx finds out where git would connect to and which directories it would use,
// without running git.
//
// A repository that an untrusted program can write to acts like a program: its
// configuration can rewrite addresses, give a remote several addresses or another one for
// pushing, start commands, and move the repository elsewhere. Asking git would run these
// commands. Therefore this package reads the configuration files itself, with git's
// grammar and precedence, and resolves the name of a remote to all URLs that git would
// contact, after all rewriting rules. It refuses what it cannot follow safely: includes in
// a repository's own configuration, remote helpers, local paths, and values that look like
// options. It also finds the files that git would run or obey because a configuration
// names them.
package gitx
