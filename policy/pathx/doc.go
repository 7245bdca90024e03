// Package pathx finds out which file a path names, as the kernel would, and refuses paths
// whose meaning depends on who reads them.
//
// A path from an untrusted program can mislead in many ways: with links, with links to
// missing files, with ".." after a link, with another user's home directory, with a second
// spelling of the mount point, and with entries of /proc that are a different file for
// every process. The resolver walks component by component, follows every link in order,
// and goes up only from the real directory. Its answer is one canonical absolute path that
// contains no link and no "..", with the identities of the directories on the way. So the
// caller also recognizes a hard link, a bind mount, and another spelling on a disk that
// ignores case.
//
// The answer is true at one moment. A caller that acts on it later must resolve the path
// again.
package pathx
