package compile

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Question is one question to a model, with one structured answer.
type Question struct {
	System    string         // the system prompt: the task
	User      string         // the user prompt: the material for the task
	Schema    map[string]any // JSON Schema of the answer
	Name      string         // of the schema: letters and underscores
	MaxTokens int            // how long the answer may be
	Shorter   string         // how an answer that was too long can be made shorter
}

// ErrCut is returned by Ask when the answer was cut off at MaxTokens.
var ErrCut = errors.New("the answer was cut off")

// Model answers questions. It is safe for concurrent use.
type Model interface {
	// Ask returns an answer in the form that q asks for. The error is ErrCut if the
	// answer was cut off; any other error means that the model could not be asked.
	Ask(ctx context.Context, q Question) (string, error)
	Name() string
}

// AskError means that the model could not be asked. It says nothing about any rule, so
// it ends the whole compilation.
type AskError struct {
	Model string
	Err   error
}

func (e *AskError) Error() string { return "asking " + e.Model + ": " + e.Err.Error() }
func (e *AskError) Unwrap() error { return e.Err }

// repairs is how often a model may answer again after an unusable answer.
const repairs = 2

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 128 << 10

// ask asks until decode accepts the answer, at most two times again. It shows a refused
// answer to the model with the reason. After an answer that was cut off, it tells the
// model how to be shorter and lets it write twice as much.
func ask[T any](ctx context.Context, m Model, q Question, decode func(text string) (T, error)) (T, error) {
	var none T
	user, tokens := q.User, q.MaxTokens
	for turn := 0; ; turn++ {
		if err := ctx.Err(); err != nil {
			return none, err
		}
		answer, err := m.Ask(ctx, q)
		switch {
		case errors.Is(err, ErrCut):
			if turn == repairs {
				return none, fmt.Errorf("the model's answers are too long: the last was cut off at %d tokens; say less in the constitution, or choose a model that is briefer with --model", q.MaxTokens)
			}
			q.User = user + "\n\nYour last answer was cut off: it was too long. Answer again, the whole answer, much shorter. " + q.Shorter
			q.MaxTokens = 2 * tokens
			continue
		case err != nil && q.MaxTokens > tokens && ctx.Err() == nil: // some models refuse so large a limit
			return none, fmt.Errorf("an answer was cut off at %d tokens, and %s cannot be asked for %d: %w; say less in the constitution, or choose another model with --model", tokens, m.Name(), q.MaxTokens, err)
		case err != nil:
			return none, &AskError{Model: m.Name(), Err: err}
		}
		var got T
		if len(answer) > maxAnswer || !utf8.ValidString(answer) {
			err = fmt.Errorf("the answer is longer than %d bytes, or not text", maxAnswer)
		} else if got, err = decode(answer); err == nil {
			return got, nil
		}
		if turn == repairs {
			return none, fmt.Errorf("%d answers of the model were refused, the last because %w", turn+1, err)
		}
		q.User = user + "\n\nYour last answer was:\n" + text.Clip(answer, 16<<10) + "\n\nIt was refused: " + err.Error() +
			"\nAnswer again, the whole answer, without this mistake."
	}
}
