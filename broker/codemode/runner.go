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
	// Line is the line of the program that makes the call, from 1, as the isolate reports it, which
	// may be wrong; 0: it is not known. Source is the beginning of that line in the program.
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

// Program is a program with its tools, and the functions that carry out its calls.
type Program struct {
	Code  string
	Tools *Toolset
	// Do carries out a call; it must return soon after its context ends. Several run at a time.
	// waits is called with true when the call begins to wait for a person, and with false when it
	// no longer waits.
	Do func(ctx context.Context, c Call, waits func(bool)) Answer
	// Journal stores what the program is given. With a journal that was opened, the program is run
	// again: calls with stored answers get these, which is reported to Replayed, and then Do gets
	// the others. Both may be nil.
	Journal  *Journal
	Replayed func(c Call, a Answer)
}

// Runner runs the programs of one session.
type Runner struct {
	path      string // of the program that is an isolate
	stateFile string // file of the state; empty: it is only in memory
	limits    Limits
	places    chan struct{} // one for each running program

	mu    sync.Mutex
	state string // a JSON object that one program leaves to the next
}

// NewRunner makes a runner. path is the program that is an isolate. The state that programs leave
// is stored in the file stateFile, which only the host may write to; an empty name keeps it in
// memory.
func NewRunner(path, stateFile string, limits Limits) *Runner {
	return &Runner{path: path, stateFile: stateFile, limits: limits.orDefaults(), places: make(chan struct{}, maxPrograms)}
}

// Run runs a program to its end. When a few programs of the runner run already, it waits for one to
// end. An error means that the program was not started and did nothing.
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
			out.fail("what the program put in state could not be stored: " + err.Error())
		}
	}
	return out, nil
}

// load returns the state that the last program has left.
func (r *Runner) load() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == "" && r.stateFile != "" {
		data, err := os.ReadFile(r.stateFile)
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

// save stores what a program has left. Only isolates read it, so it is only checked to be a JSON
// object.
func (r *Runner) save(state string) error {
	if len(state) > maxState {
		return fmt.Errorf("it is longer than %d KiB, so the state before the program stays", maxState>>10)
	}
	if state[0] != '{' || !json.Valid([]byte(state)) {
		return errors.New("it is not a JSON object")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stateFile != "" && state != r.state {
		if err := wholefile.Write(r.stateFile, []byte(state), 0o600); err != nil {
			return err
		}
	}
	r.state = state
	return nil
}
