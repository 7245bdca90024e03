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

// Summary is one container in a list.
type Summary struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Image     string            `json:"image"`
	State     string            `json:"state"` // "created", "running", "exited", …
	Running   bool              `json:"running"`
	CreatedAt time.Time         `json:"createdAt"`
	Labels    map[string]string `json:"labels"`
}

// List returns this program's containers that carry all the given labels,
// running or not, oldest first.
func (c *Client) List(ctx context.Context, labels map[string]string) ([]Summary, error) {
	filter := []string{LabelManaged + "=true"}
	for k, v := range labels {
		filter = append(filter, k+"="+v)
	}
	found, err := c.bound(ctx).ListContainers(engine.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": filter}, Context: ctx,
	})
	if err != nil {
		return nil, fault.Wrap("list containers", translate(err), "")
	}
	list := make([]Summary, 0, len(found))
	for _, f := range found {
		// The engine has filtered already. The label is checked again, because callers
		// remove what is in this list.
		if f.Labels[LabelManaged] != "true" {
			continue
		}
		s := Summary{
			ID: f.ID, Image: shortTag(f.Image), State: f.State, Running: f.State == "running",
			CreatedAt: time.Unix(f.Created, 0), Labels: f.Labels,
		}
		if len(f.Names) > 0 {
			s.Name = strings.TrimPrefix(f.Names[0], "/")
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Summary) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, nil
}

// RemoveLabeled ends and removes this program's containers that carry all the given
// labels. It continues after a failure and reports all failures.
func (c *Client) RemoveLabeled(ctx context.Context, labels map[string]string) error {
	list, err := c.List(ctx, labels)
	if err != nil {
		return err
	}
	var failures []error
	for _, s := range list {
		failures = append(failures, c.remove(ctx, s.ID))
	}
	return fault.Wrap("remove containers", errors.Join(failures...), "run 'ironcurtain-mux gc' later")
}

// removalUnderWay reports whether the engine refused because it is removing
// the container already.
func removalUnderWay(err error) bool {
	return err != nil && strings.Contains(err.Error(), "already in progress")
}
