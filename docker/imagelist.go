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
	Name       string    `json:"name"` // "claude-code"; "layer" for what EnsureLayer has made
	Tag        string    `json:"tag"`
	Parent     string    `json:"parent,omitempty"`     // of a layer: a tag of the image below it; empty if that has none
	Version    string    `json:"version,omitempty"`    // of the agent in it
	Toolchains string    `json:"toolchains,omitempty"` // names of the recipe's toolchains and packages
	Present    bool      `json:"present"`              // the engine has it
	Current    bool      `json:"current"`              // a build now would make this tag; of a layer: see markLayers
	SizeBytes  int64     `json:"sizeBytes,omitempty"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
}

// State returns the image's state in one word.
func (i Image) State() string {
	switch {
	case i.Present && i.Current:
		return "ready"
	case i.Present:
		return "old"
	}
	return "missing"
}

// ListImages returns the images of the given recipes, which are current, and the old ones that the
// engine still has, sorted by name. Missing images are listed for the first recipe only.
func (c *Client) ListImages(ctx context.Context, recipes ...Recipe) ([]Image, error) {
	const op = "list images"
	found, err := c.bound(ctx).ListImages(engine.ListImagesOptions{Context: ctx})
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	present := map[string]engine.APIImages{}
	for _, f := range found {
		for _, tag := range f.RepoTags {
			if tag := shortTag(tag); strings.HasPrefix(tag, repository) {
				present[tag] = f
			}
		}
	}
	var list []Image
	for n, r := range recipes {
		current, err := c.currentImages(r)
		if err != nil {
			return nil, fault.Wrap(op, err, "")
		}
		for _, i := range current {
			f, ok := present[i.Tag]
			if delete(present, i.Tag); ok {
				i.Present, i.SizeBytes, i.CreatedAt = true, f.Size, time.Unix(f.Created, 0)
			} else if n > 0 || i.Name == rootfsName {
				continue // a root file system is made only if no registry answers
			}
			list = append(list, i)
		}
	}
	for tag, f := range present {
		name, _, _ := strings.Cut(strings.TrimPrefix(tag, repository), ":")
		if f.Labels[LabelImage] == "" && name != rootfsName {
			continue
		}
		list = append(list, Image{
			Name: name, Tag: tag, Version: f.Labels[LabelVersion], Toolchains: f.Labels[LabelToolchains], Present: true,
			SizeBytes: f.Size, CreatedAt: time.Unix(f.Created, 0),
		})
	}
	markLayers(list, found)
	slices.SortFunc(list, func(a, b Image) int {
		return strings.Compare(a.Name+" "+a.Tag, b.Name+" "+b.Tag)
	})
	return list, nil
}

// markLayers sets the parent of each layer in a list, and which layers are current: the newest one on
// each image that is not an old image of this program. The others contain files of an older program.
func markLayers(list []Image, found []engine.APIImages) {
	old := map[string]bool{} // images of this program that are not current, by tag
	for _, i := range list {
		old[i.Tag] = !i.Current
	}
	parents := map[string]string{} // tags of images, by identifier
	on := map[string]string{}      // identifiers of layers' parents, by the layer's tag
	for _, f := range found {
		for _, tag := range f.RepoTags {
			tag = shortTag(tag)
			on[tag] = f.Labels[LabelParent]
			if have := parents[bareID(f.ID)]; !strings.HasPrefix(tag, "<none>") && (have == "" || old[have]) {
				parents[bareID(f.ID)] = tag
			}
		}
	}
	newest := map[string]*Image{} // by the parent's tag
	for n := range list {
		i := &list[n]
		if i.Name != layerImage {
			continue
		}
		i.Parent = parents[on[i.Tag]]
		if last := newest[i.Parent]; i.Parent == "" || old[i.Parent] || last != nil && last.CreatedAt.After(i.CreatedAt) {
			continue
		} else if last != nil {
			last.Current = false
		}
		i.Current, newest[i.Parent] = true, i
	}
}

// shortTag returns a tag without the registry, which Podman adds.
func shortTag(tag string) string {
	for _, registry := range []string{"docker.io/", "localhost/"} {
		tag = strings.TrimPrefix(tag, registry)
	}
	return tag
}

const rootfsName = "rootfs"

// currentImages lists the images that a build with this recipe would make now.
func (c *Client) currentImages(r Recipe) ([]Image, error) {
	var list []Image
	specs, err := r.images()
	if err != nil {
		return nil, err
	}
	for _, s := range specs {
		line, err := chain(specs, s.Name)
		if err != nil {
			return nil, err
		}
		all := tags(line, c.info.Architecture)
		list = append(list, Image{Name: s.Name, Tag: all[len(all)-1], Version: s.Version, Toolchains: r.label(), Current: true})
		if s.rootfs.suite != "" {
			tag := repository + rootfsName + ":" + rootfsHash(s, c.info.Architecture)
			list = append(list, Image{Name: rootfsName, Tag: tag, Toolchains: r.label(), Current: true})
		}
	}
	return list, nil
}

// removeAs orders images for removal: layers before the images below them.
func (i Image) removeAs() int {
	if i.Name == layerImage {
		return 0
	}
	return 1
}

// RemoveImages removes images of a list and returns their tags. It continues after a
// failure and reports all failures. An image that a container uses cannot be removed and
// counts as a failure.
func (c *Client) RemoveImages(ctx context.Context, list []Image) ([]string, error) {
	removed := []string{}
	var failures []error
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Image) int { return a.removeAs() - b.removeAs() })
	for _, i := range list {
		if !i.Present {
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
