package mcpproxy

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Builtin is a tool that the host carries out itself instead of a server. It
// is judged, approved and recorded like any other.
type Builtin struct {
	Server      string // a name that no real server may have
	Name        string
	Description string
	InputSchema json.RawMessage
	// Check returns why a call cannot succeed even if a person approves it, so that no person is
	// asked in vain. It may be nil.
	Check func(arguments json.RawMessage) error
	// Run gets the canonical arguments and returns the result for the agent, as JSON. It
	// must return when its context ends.
	Run func(ctx context.Context, arguments json.RawMessage) (any, error)
}

// offerBuiltins adds the host's own tools to a catalog.
func (p *Proxy) offerBuiltins(c *catalog) {
	for _, b := range p.config.Builtins {
		p.offer(c, tool{server: b.Server, Name: b.Name, Description: b.Description, InputSchema: b.InputSchema})
	}
}

// builtin returns the host's own tool of that name, or nil.
func (p *Proxy) builtin(t target) *Builtin {
	for i, b := range p.config.Builtins {
		if b.Server == t.server && b.Name == t.tool {
			return &p.config.Builtins[i]
		}
	}
	return nil
}

// runBuiltin records that the call is let through and carries it out.
func (c *call) runBuiltin(ctx context.Context, b *Builtin) json.RawMessage {
	if why := context.Cause(ctx); why != nil {
		return c.withdrawn(ctx, why)
	}
	if err := c.append(ctx, c.record); err != nil {
		return c.unrecorded(err)
	}
	c.ending.began = time.Now()
	value, err := b.Run(ctx, c.verdict.Arguments)
	if err != nil {
		return c.failed(err)
	}
	text, err := encode(value)
	if err != nil {
		return c.failed(err)
	}
	result, err := encode(toolResult{Content: []json.RawMessage{textBlock(c.proxy.present(string(text), false))}})
	if err != nil {
		return c.failed(err)
	}
	c.answered(result, false)
	return result
}

// reserved reports whether a server's name is reserved for the host's own tools.
func reserved(server string) bool { return server == policy.ProxyServer }
