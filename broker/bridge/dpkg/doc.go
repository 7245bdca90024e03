// Package dpkg replaces dpkg in an agent's container, where nobody is root and the image is
// read-only. apt calls it with the packages that it has downloaded. It unpacks them below a
// directory of the agent's home, with the image's dpkg-deb. Programs find the files by PATH and
// LD_LIBRARY_PATH.
//
// No script of a package runs, so what scripts do, such as creating users and starting services, is
// missing. The packages of the image cannot be changed: apt sees them as held.
//
// apt reads one status file, which says what is installed: the image's packages and those that were
// unpacked. It is rewritten at each start, because a home can get a new image.
package dpkg
