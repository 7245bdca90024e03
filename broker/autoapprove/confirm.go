package autoapprove

import (
	"context"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// Limit is how long a model may take, including a second try.
const Limit = 8 * time.Second

// Confirmation is the result of asking the model.
type Confirmation struct {
	Approve  bool
	Model    string
	Prompt   string // hash of what was asked
	Answer   string // of the model, as it came
	Reason   string // of the model
	Error    string // why there is no valid answer
	Attempts int
	Took     time.Duration
}

// Confirm asks the model whether the person ordered the call. An answer that is not a clear
// approval counts as none. A model that cannot be reached is asked once more.
func Confirm(ctx context.Context, m llm.Model, q Question) Confirmation {
	began := time.Now()
	c := Confirmation{Model: m.Name()}
	asked, err := question(q)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	c.Prompt = promptHash(asked)
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	for c.Attempts < 2 {
		c.Attempts++
		if c.Answer, err = m.Ask(ctx, asked); err == nil || !llm.Transient(err) || ctx.Err() != nil {
			break
		}
	}
	c.Took = time.Since(began)
	if err == nil {
		c.Approve, c.Reason, err = decodeReply(c.Answer)
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // too late is no answer
	}
	if err != nil {
		c.Approve, c.Error = false, err.Error()
	}
	if len(c.Answer) > maxReply {
		c.Answer = c.Answer[:maxReply]
	}
	return c
}
