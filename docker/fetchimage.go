package docker

import (
	"context"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// FetchImage makes sure that the engine has an image that this program does not build,
// and pulls it from its registry if not. The image is used unchanged.
func (c *Client) FetchImage(ctx context.Context, reference string, o BuildOptions) error {
	b := &imageBuild{client: c, options: o, report: newReporter(o, 1)}
	b.report.step(reference, "get image "+reference)
	err := b.pull(ctx, reference)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return fault.Wrap("get image "+reference, err, "build or load the image, then try again")
	}
	return fault.Wrap("get image "+reference, err, "")
}
