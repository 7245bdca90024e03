// Package leak finds known secrets in text: whole, and so much of one that it can
// be nothing else.
//
// An error message often cuts the key that it complains of, so a part of a secret is
// one, too. A part is half of it in a row, but at least 16 and at most 24 characters:
// more than chance brings about, and few enough that what is left over is no key. A
// secret that is shorter than that counts as a whole only. Nothing is a part that
// others may know as well: of a signed token (JWT) only the signature counts, and a
// path, an address or a sentence counts as a whole.
//
// A Finder looks at text that is complete, a Scanner at a stream.
package leak
