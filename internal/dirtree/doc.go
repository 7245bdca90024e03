// Package dirtree removes, walks and prunes directories that an agent could write to. The
// directories can be of any depth and width, and can change at any time. So this package
// follows no link, keeps few descriptors open, builds paths only for messages, and checks
// ctx before each entry.
package dirtree
