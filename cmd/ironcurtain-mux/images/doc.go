// Package images is the command images: it lists the images that agents run in, builds them
// beforehand, and removes those that are no longer needed.
package images
