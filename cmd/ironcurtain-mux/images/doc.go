// Package images is the command images: which images agents run in, building them beforehand
// and removing those that nothing needs any more.
package images
