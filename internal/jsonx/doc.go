// Package jsonx reads JSON strictly: every document that it accepts can be understood in
// exactly one way.
//
// Two programs that read the same bytes may disagree about them. One keeps the
// first of two equal keys, the other the last; one matches names without
// regard to case; one rounds a large number; one replaces half a surrogate
// pair. A proxy between an untrusted writer and a backend must not accept such
// bytes at all. This package refuses duplicate names, names that differ
// only in case or in Unicode form, lone surrogates, invalid UTF-8, numbers
// that a reader with 64-bit floats would change, and documents that are too
// deep or too large. It keeps an accepted document as a tree in the written order,
// with numbers as text, and writes the tree in one canonical spelling: the bytes
// that are forwarded come from the tree that was judged.
package jsonx
