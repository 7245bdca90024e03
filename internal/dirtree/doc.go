// Package dirtree removes, walks and prunes directories that an agent could write to. They
// may be of any depth and width, and change meanwhile. So no link is followed, few
// descriptors are open at once, no path is put together but for a message, and ctx is
// obeyed between any two entries.
package dirtree
