// Package leak finds known secrets in text: whole secrets, and parts that are too long to
// be there by chance.
//
// It also finds parts, because an error message often shows only a part of a key. A part
// is half of the secret's characters in a row, but at least 16 and at most 24. That many do
// not match by chance, and less than that is useless as a key. A secret that is shorter
// than that only counts as a whole. Text that others may know does not count as a part: of
// a signed token (JWT) only the signature counts, and a path, an address or a sentence only
// counts as a whole.
//
// A Finder searches a complete text, a Scanner a stream.
package leak
