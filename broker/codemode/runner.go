package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Call is one call that a program makes.
type Call struct {
	Index        int // from 1, in the order in which the host heard of them
	Server, Tool string
	Arguments    json.RawMessage // as the program wrote them: nothing of them is judged
	// Line is the line of the program that makes the call, from 1, as the isolate says, which may
	// lie; 0: it is not known. Source is the beginning of that line, as the program has it.
	Line   int
	Source string
}

// Answer is what a program gets for a call.
type Answer struct {
	OK       bool
	Text     string // the value as JSON, or why there is none
	Decision string // the audit's words, of a call without a value
	Rule     string // of a call that was refused
	Refused  bool   // it was not carried out
}

// Program is a program with what it may do.
type Program struct {
	Code  string
	Tools *Toolset
	// Do carries out a call; it must return soon after its context ends. Several run at a
	// time. waits is called with true when the call begins to wait for a person, and with
	// false when it does not wait any more.
	Do func(ctx context.Context, c Call, waits func(bool)) Answer
	// Journal keeps what the program is given. One that was opened makes the program run
	// again: Do gets none of the calls that have kept answers, and Again gets those. Do gets
	// no call before all kept answers were given. Both may be nil.
	Journal *Journal
	Again   func(c Call, a Answer)
}

// Runner runs the programs of one session.
type Runner struct {
	path   string // of the program that is an isolate
	kept   string // file of the state; empty: it is kept in memory
	limits Limits
	places chan struct{} // one a program that runs

	mu    sync.Mutex
	state string // a JSON object that one program leaves to the next
}

// NewRunner makes a runner. path is the program that is an isolate. The state that programs
// leave is kept in the file stateFile, which only the host may write to; an empty name keeps
// it in memory.
func NewRunner(path, stateFile string, limits Limits) *Runner {
	return &Runner{path: path, kept: stateFile, limits: limits.orDefaults(), places: make(chan struct{}, maxPrograms)}
}

// Run runs a program to its end. More than a few of one runner wait for each other. The
// error is of a program that was not begun; it did nothing.
func (r *Runner) Run(ctx context.Context, p Program) (Outcome, error) {
	if len(p.Code) > maxCode {
		return Outcome{}, fmt.Errorf("the program is longer than %d KiB", maxCode>>10)
	}
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-ctx.Done():
		return Outcome{}, context.Cause(ctx)
	}
	state, err := r.load()
	if err != nil {
		return Outcome{}, err
	}
	isolate, err := start(ctx, r.path, r.limits.Start)
	if err != nil {
		return Outcome{}, err
	}
	begins, past := p.Journal.begin(beginning{
		Code: p.Code, Tools: p.Tools.print, State: state, Now: time.Now().UnixMilli(), Seed: int64(rand.Uint32()), //nolint:gosec // no secret depends on it
	})
	out := converse(ctx, isolate, p, r.limits, begins, past)
	if out.state != "" {
		if err := r.save(out.state); err != nil {
			out.fail("what the program put in state is not kept: " + err.Error())
		}
	}
	return out, nil
}

// load returns the state that the last program has left.
func (r *Runner) load() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == "" && r.kept != "" {
		data, err := os.ReadFile(r.kept)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("read the state of programs: %w", err)
		}
		r.state = string(data)
	}
	if r.state == "" {
		r.state = "{}"
	}
	return r.state, nil
}

// save keeps what a program has left. Only isolates read it: that it is JSON is enough.
func (r *Runner) save(state string) error {
	if len(state) > maxState {
		return fmt.Errorf("it is longer than %d KiB, so the state before the program stays", maxState>>10)
	}
	if state[0] != '{' || !json.Valid([]byte(state)) {
		return errors.New("it is not a JSON object")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept != "" && state != r.state {
		if err := wholefile.Write(r.kept, []byte(state), 0o600); err != nil {
			return err
		}
	}
	r.state = state
	return nil
}
