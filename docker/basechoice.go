package docker

import "slices"

// UseBase makes an image of a registry the one that all images are built on,
// in place of the one that the base's Dockerfile names; an empty name changes
// nothing. It must be a Debian or Ubuntu. Call it before anything is asked about
// images. With another base than the Dockerfile's the root file system comes from
// the registry alone.
func (c *Client) UseBase(image string) { c.chosen = image }

// images are the embedded images on the base that was chosen.
func (c *Client) images() []ImageSpec {
	list := Images()
	i := slices.IndexFunc(list, func(s ImageSpec) bool { return s.rootfs.suite != "" })
	if i >= 0 && c.chosen != "" && c.chosen != list[i].rootfs.image {
		list[i].rootfs.image, list[i].rootfs.other = c.chosen, true
	}
	return list
}
