// Package pathx finds out which file a path names, the way the kernel would,
// and refuses the paths whose meaning depends on who reads them.
//
// A path that an untrusted program writes can lie in many ways: with links,
// with links that lead nowhere yet, with ".." behind a link, with a home
// directory of somebody else, with a second spelling of the mount point, with
// entries of /proc that are a different file for every process. The resolver
// walks component by component, follows every link it meets in order and goes
// up only from where it really is. Its answer is one canonical absolute path
// that contains no link and no "..", together with the identities of the
// directories on the way, so that a hard link, a bind mount or another
// spelling on a disk that ignores case is recognized as well.
//
// The answer describes one moment. Whoever acts on it later must ask again.
package pathx
