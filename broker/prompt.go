package broker

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
)

// ServePrompt asks the person at a client's terminal about one waiting call after the other, line
// by line. There nothing but these calls can be seen or decided, and nothing is remembered. It
// returns when ctx or the terminal's input ends.
func (b *Broker) ServePrompt(ctx context.Context, t approval.Terminal, c Client) error {
	return approval.ServePrompt(ctx, b.approvals, t, c)
}
