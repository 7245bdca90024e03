package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Image is an image of this program: one that the engine has, or one that is missing.
type Image struct {
	Name      string    `json:"name"` // "claude-code"
	Tag       string    `json:"tag"`
	Version   string    `json:"version,omitempty"` // of the agent in it
	Present   bool      `json:"present"`           // the engine has it
	Current   bool      `json:"current"`           // a build now would make this tag
	SizeBytes int64     `json:"sizeBytes,omitempty"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// State is the image's state in one word.
func (i Image) State() string {
	switch {
	case i.Present && i.Current:
		return "ready"
	case i.Present:
		return "old"
	}
	return "missing"
}

// ListImages returns the current images, present or missing, and the old ones
// that are still there, by name.
func (c *Client) ListImages(ctx context.Context) ([]Image, error) {
	const op = "list images"
	found, err := c.bound(ctx).ListImages(engine.ListImagesOptions{Context: ctx})
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	present := map[string]engine.APIImages{}
	for _, f := range found {
		for _, tag := range f.RepoTags {
			if strings.HasPrefix(tag, repository) {
				present[tag] = f
			}
		}
	}
	var list []Image
	current, err := c.currentImages()
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	for _, i := range current {
		f, ok := present[i.Tag]
		if delete(present, i.Tag); ok {
			i.Present, i.SizeBytes, i.CreatedAt = true, f.Size, time.Unix(f.Created, 0)
		} else if i.Name == rootfsName {
			continue // only made where no registry answers
		}
		list = append(list, i)
	}
	for tag, f := range present {
		name, _, _ := strings.Cut(strings.TrimPrefix(tag, repository), ":")
		if f.Labels[LabelImage] == "" && name != rootfsName {
			continue
		}
		list = append(list, Image{
			Name: name, Tag: tag, Version: f.Labels[LabelVersion], Present: true,
			SizeBytes: f.Size, CreatedAt: time.Unix(f.Created, 0),
		})
	}
	slices.SortFunc(list, func(a, b Image) int {
		return strings.Compare(a.Name+" "+a.Tag, b.Name+" "+b.Tag)
	})
	return list, nil
}

const rootfsName = "rootfs"

// currentImages lists the images that a build now would make.
func (c *Client) currentImages() ([]Image, error) {
	var list []Image
	specs := c.images()
	for _, s := range specs {
		line, err := chain(specs, s.Name)
		if err != nil {
			return nil, err
		}
		all := tags(line, c.info.Architecture)
		list = append(list, Image{Name: s.Name, Tag: all[len(all)-1], Version: s.Version, Current: true})
		if s.rootfs.suite != "" {
			tag := repository + rootfsName + ":" + rootfsHash(s, c.info.Architecture)
			list = append(list, Image{Name: rootfsName, Tag: tag, Current: true})
		}
	}
	return list, nil
}

// RemoveImages removes the images of this program that choose picks and returns their
// tags. It continues after a failure and reports all failures. An image that a
// container uses cannot be removed and counts as a failure.
func (c *Client) RemoveImages(ctx context.Context, choose func(Image) bool) ([]string, error) {
	list, err := c.ListImages(ctx)
	if err != nil {
		return nil, err
	}
	removed := []string{}
	var failures []error
	for _, i := range list {
		if !i.Present || !choose(i) {
			continue
		}
		err := c.bound(ctx).RemoveImageExtended(i.Tag, engine.RemoveImageOptions{Context: ctx})
		if err != nil && !errors.Is(err, engine.ErrNoSuchImage) {
			failures = append(failures, translate(err))
			continue
		}
		removed = append(removed, i.Tag)
	}
	return removed, fault.Wrap("remove images", errors.Join(failures...), "close the sessions that use them")
}
