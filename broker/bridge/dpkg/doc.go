// Package dpkg stands in for dpkg in an agent's container, where nobody is root and the image
// is read-only. apt calls it with the packages that it has downloaded, and it unpacks them below
// a directory of the agent's home, by the dpkg-deb of the image. Programs find what is there
// by PATH and LD_LIBRARY_PATH.
//
// No script of a package runs, so what these would do, such as creating users and starting
// services, is missing. The packages of the image stay as they are: apt sees them as held.
//
// apt reads one status file, which says what is installed. Ours has the image's packages and
// those that were unpacked. It is made anew at each start, because an image can change while a
// home stays.
package dpkg
