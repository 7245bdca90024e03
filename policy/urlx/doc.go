// Package urlx reads web addresses so that every reader agrees on the host.
//
// URL parsers differ: one takes 0x7f.1 for a name and another for 127.0.0.1,
// one goes to the part before the @ and another to the part after it, one
// drops a tab and another does not. Parse accepts only http and https URLs
// whose host has a single reading, and returns them in one canonical spelling.
// Only that spelling may be passed on; parsing it again gives the same URL.
//
// A Pattern says which hosts a rule covers. "*" covers public names of several
// labels and nothing else: no addresses, not localhost, and no names that only
// resolve inside a network.
package urlx
