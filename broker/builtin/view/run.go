package view

import (
	"context"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// Agent is what the view steers. Its methods may take their time, and are called on
// goroutines that Run waits for.
type Agent interface {
	// Turn runs one turn to its end. That its context is cancelled means that the person
	// has interrupted it. All its events are sent before it returns.
	Turn(ctx context.Context, text string) error
	// Compact makes the conversation shorter.
	Compact(ctx context.Context) error
	// UseModel is called with a name that is not empty.
	UseModel(name string) error
	// Model is the model that answers.
	Model() string
	// Program returns the code of program n, from 1.
	Program(n int) (code string, known bool)
	// Past is the conversation before, which is shown again.
	Past() []builtin.Event
}

// Options is all that a view has. It opens nothing.
type Options struct {
	In      io.Reader               // bytes of the terminal, which is in raw mode already
	Out     io.Writer               // the terminal
	Size    func() (cols, rows int) // of the terminal
	Resized <-chan struct{}         // the size may have changed; may drop values, one that waits covers all
	Events  <-chan builtin.Event    // of the agent; none is dropped, and they are read for as long as a turn runs
	Agent   Agent
	NoColor bool // as the variable NO_COLOR asks
}

// Run shows the agent until the person ends it, the input ends or the context does, and
// until no turn runs any more. A read of In that is under way then ends by itself only
// with the next key: whoever goes on after Run closes In.
func Run(ctx context.Context, o Options) error {
	<-ctx.Done()
	return nil
}
