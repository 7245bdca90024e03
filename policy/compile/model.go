package compile

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Question is what a model is asked: one question with one structured answer.
type Question struct {
	System    string         // what it is to do
	User      string         // what it is to do it with
	Schema    map[string]any // JSON Schema of the answer
	Name      string         // of the schema: letters and underscores
	MaxTokens int            // the longest answer that is wanted
	Shorter   string         // how an answer that was too long can be made shorter
}

// ErrCut is the error of a model whose answer was cut off at MaxTokens.
var ErrCut = errors.New("the answer was cut off")

// Model answers questions with text in the form that was asked for, or with an
// error that is ErrCut. It is safe for concurrent use.
type Model interface {
	Ask(ctx context.Context, q Question) (string, error)
	Name() string
}

// AskError means that the model could not be asked: nothing was learnt about any
// rule, so the whole compilation ends.
type AskError struct {
	Model string
	Err   error
}

func (e *AskError) Error() string { return "asking " + e.Model + ": " + e.Err.Error() }
func (e *AskError) Unwrap() error { return e.Err }

// repairs is how often a model may answer again after an answer that cannot be
// used.
const repairs = 2

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 128 << 10

// ask asks until decode takes the answer. Each refused answer is shown to the
// model with the reason, twice at most. After one that was cut off the model is
// told how to be brief, and may write twice as much.
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
		case err != nil && q.MaxTokens > tokens && ctx.Err() == nil: // some models never write so much
			return none, fmt.Errorf("an answer was cut off at %d tokens, and %s cannot be asked for %d: %w; say less in the constitution, or choose another model with --model", tokens, m.Name(), q.MaxTokens, err)
		case err != nil:
			return none, &AskError{Model: m.Name(), Err: err}
		}
		var got T
		if len(answer) > maxAnswer || !utf8.ValidString(answer) {
			err = fmt.Errorf("the answer is longer than %d bytes, or no text", maxAnswer)
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
