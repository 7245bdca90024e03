package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// LabelObjects names the repository whose objects a volume has a copy of. A volume with this label
// belongs to no single session.
const LabelObjects = "ironcurtain.objects"

// ErrVolume means that a volume cannot be used; test with errors.Is.
var ErrVolume = errors.New("the volume is not usable")

// ErrVolumeInUse means that a volume cannot be removed because a container uses it.
var ErrVolumeInUse = errors.New("a container uses the volume")

// Volume is one of this program's volumes.
type Volume struct {
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	CreatedAt time.Time         `json:"createdAt"`
}

// VolumeMount mounts an existing volume into the container. The engine fills an empty volume that is
// not read-only with the content of the image's directory at the target, and gives it that owner.
type VolumeMount struct {
	Name     string // of a volume that CreateVolume made
	Target   string // absolute
	ReadOnly bool
}

// volumeName matches the names of this program's volumes. No absolute path of the host can match.
var volumeName = regexp.MustCompile(`^ironcurtain-[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$`)

// validate refuses names of other volumes, and targets that cannot be a mount point.
func (v VolumeMount) validate() error {
	if !volumeName.MatchString(v.Name) {
		return because(ErrMount, "%q is not the name of a volume of this program", v.Name)
	}
	if !path.IsAbs(v.Target) || path.Clean(v.Target) == "/" {
		return because(ErrMount, "volume %s to %q: the target must be absolute, and not the root", v.Name, v.Target)
	}
	return nil
}

// mount returns the mount in the engine's form. A read-only volume is never filled from the image.
func (v VolumeMount) mount() engine.HostMount {
	return engine.HostMount{
		Type: "volume", Source: v.Name, Target: v.Target, ReadOnly: v.ReadOnly,
		VolumeOptions: &engine.VolumeOptions{NoCopy: v.ReadOnly},
	}
}

// CreateVolume makes a volume with these labels and LabelManaged. An existing volume of that name
// stays as it is; if it is not this program's or has other labels, CreateVolume fails with ErrVolume.
// Only LabelHost may differ, because people rename machines.
func (c *Client) CreateVolume(ctx context.Context, name string, labels map[string]string) error {
	op := "create volume " + name
	if !volumeName.MatchString(name) {
		return fault.Wrap(op, because(ErrVolume, "that is not the name of a volume of this program"), "")
	}
	want := map[string]string{LabelManaged: "true"}
	maps.Copy(want, labels)
	volume, err := c.bound(ctx).CreateVolume(engine.CreateVolumeOptions{Name: name, Driver: "local", Labels: want, Context: ctx})
	if err != nil {
		return fault.Wrap(op, translate(err), startFailureHint(err))
	}
	for _, label := range slices.Sorted(maps.Keys(want)) {
		if has := volume.Labels[label]; has != want[label] && label != LabelHost {
			err := because(ErrVolume, "a volume of that name exists and belongs to something else: its label %s is %s", label, oneLine(fmt.Sprintf("%q", has)))
			return fault.Wrap(op, err, "if nothing needs that volume, remove it: docker volume rm "+name)
		}
	}
	return nil
}

// Volumes returns this program's volumes that have all the given labels, by name.
func (c *Client) Volumes(ctx context.Context, labels map[string]string) ([]Volume, error) {
	want := maps.Clone(labels)
	if want == nil {
		want = map[string]string{}
	}
	want[LabelManaged] = "true"
	var filter []string
	for label, value := range want {
		filter = append(filter, label+"="+value)
	}
	found, err := c.bound(ctx).ListVolumes(engine.ListVolumesOptions{Filters: map[string][]string{"label": filter}, Context: ctx})
	if err != nil {
		return nil, fault.Wrap("list volumes", translate(err), "")
	}
	list := make([]Volume, 0, len(found))
	for _, f := range found {
		// The engine has filtered already. Names and labels are checked again, because callers
		// remove what is in this list.
		if !volumeName.MatchString(f.Name) || !hasLabels(f.Labels, want) {
			continue
		}
		list = append(list, Volume{Name: f.Name, Labels: f.Labels, CreatedAt: f.CreatedAt})
	}
	slices.SortFunc(list, func(a, b Volume) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// VolumeSizes returns the sizes in bytes of all the engine's volumes, by name, whoever made them. It
// is slow, because the engine reads through all of them. Volumes of unknown size are left out.
func (c *Client) VolumeSizes(ctx context.Context) (map[string]int64, error) {
	const op = "measure volumes"
	resp, err := c.base.RoundTrip(c.getRequest(ctx, "/system/df", url.Values{"type": {"volume"}})) // an old engine ignores the type
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fault.Wrap(op, because(ErrEngineRefuses, "%s", resp.Status), "")
	}
	var used struct {
		Volumes []struct {
			Name      string
			UsageData struct{ Size *int64 }
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, usageLimit)).Decode(&used); err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	sizes := map[string]int64{}
	for _, v := range used.Volumes {
		if size := v.UsageData.Size; size != nil && *size >= 0 {
			sizes[v.Name] = *size
		}
	}
	return sizes, nil
}

// usageLimit bounds the engine's answer about its disk usage, in bytes.
const usageLimit = 64 << 20

// hasLabels reports whether labels contain all that are wanted.
func hasLabels(labels, want map[string]string) bool {
	for label, value := range want {
		if has, ok := labels[label]; !ok || has != value {
			return false
		}
	}
	return true
}

// RemoveVolume removes a volume of this program with everything in it. It is not an error if the
// volume does not exist. RemoveVolume fails with ErrVolumeInUse while a container, running or not,
// uses the volume.
func (c *Client) RemoveVolume(ctx context.Context, name string) error {
	op := "remove volume " + name
	if !volumeName.MatchString(name) {
		return fault.Wrap(op, because(ErrVolume, "that is not the name of a volume of this program"), "")
	}
	err := c.bound(ctx).RemoveVolumeWithOptions(engine.RemoveVolumeOptions{Context: ctx, Name: name})
	switch {
	case errors.Is(err, engine.ErrNoSuchVolume):
		return nil
	case errors.Is(err, engine.ErrVolumeInUse):
		return fault.Wrap(op, ErrVolumeInUse, "close its session first")
	}
	return fault.Wrap(op, translate(err), "")
}

// haveVolumes fails if a volume to be mounted does not exist, because the engine would make one
// without labels, or if it is not this program's.
func (c *Client) haveVolumes(ctx context.Context, wanted []VolumeMount) error {
	if len(wanted) == 0 {
		return nil
	}
	all, err := c.Volumes(ctx, nil)
	if err != nil {
		return err
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(all, func(v Volume) bool { return v.Name == w.Name }) {
			return because(ErrMount, "volume %s does not exist", w.Name)
		}
	}
	return nil
}
