package docker

import "slices"

// UseBase chooses the registry image that all images are built on, instead of the one
// that the base's Dockerfile names. An empty name changes nothing. The image must be a
// Debian or Ubuntu. Call UseBase before any other method about images. A chosen image
// comes from its registry only: mmdebstrap is not used as a substitute.
func (c *Client) UseBase(image string) { c.chosen = image }

// images returns the embedded images, built on the chosen base.
func (c *Client) images() []ImageSpec {
	list := Images()
	i := slices.IndexFunc(list, func(s ImageSpec) bool { return s.rootfs.suite != "" })
	if i >= 0 && c.chosen != "" && c.chosen != list[i].rootfs.image {
		list[i].rootfs.image, list[i].rootfs.other = c.chosen, true
	}
	return list
}
