package approval

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// leastShown is how long a call must have been on the screen before an answer to it
// counts: what was typed ahead was meant for another one, or for none.
const leastShown = 300 * time.Millisecond

// typed is a line and when it was read.
type typed struct {
	text string
	at   time.Time
}

// ServePrompt asks the person at a terminal, one item after the other. Only
// "y" or "yes" approves. It returns when ctx ends or the input does; what then
// still waits runs into its deadline.
func ServePrompt(ctx context.Context, q *Queue, in io.Reader, out io.Writer) error {
	lines := make(chan typed, 64) // must-deliver; has room, so that lines are read when they are typed
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		for s.Scan() {
			select {
			case lines <- typed{s.Text(), q.options.Clock.Now()}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		if done, err := promptNext(ctx, q, lines, out); done || err != nil {
			return err
		}
	}
}

// promptNext waits for an item and asks about it.
func promptNext(ctx context.Context, q *Queue, lines <-chan typed, out io.Writer) (done bool, err error) {
	subscribed, cancel := context.WithCancel(ctx)
	defer cancel()
	items, changes := q.Subscribe(subscribed)
	for len(items) == 0 {
		select {
		case _, ok := <-changes:
			if !ok {
				return q.ended(ctx), nil
			}
		case _, ok := <-lines: // typed while nothing was asked: not an answer
			if !ok {
				return true, nil
			}
		}
		items = q.Pending()
	}
	return promptFor(ctx, q, items[0], changes, lines, out)
}

// promptFor shows one item and takes the answer to it.
func promptFor(ctx context.Context, q *Queue, i Item, changes <-chan Change, lines <-chan typed, out io.Writer) (done bool, err error) {
	question := "approve until " + i.ExpiresAt.Format(time.TimeOnly) + "? [y/N] "
	_, err = fmt.Fprintf(out, "\n[%d] %s/%s wants\n    %s\n%s    rule %s: %s\n    %s",
		i.Number, visible(i.Server), visible(i.Tool), visible(string(i.Arguments)), effectText(i.Effect), visible(i.Rule), visible(i.Reason), question)
	if err != nil {
		return true, fmt.Errorf("ask for approval: %w", err)
	}
	shown := q.options.Clock.Now()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return true, nil
			}
			if line.at.Sub(shown) < leastShown {
				fmt.Fprint(out, "\n    that was typed before you could read this; "+question)
				continue
			}
			word := strings.ToLower(strings.TrimSpace(line.text))
			res, won, err := q.Answer(i.ID, i.Digest, Answer{Approve: word == "y" || word == "yes", Effect: i.Fingerprint(), By: "prompt"})
			if err == nil && !won {
				fmt.Fprintf(out, "already %s by %s\n", res.Outcome, res.By)
			}
			return false, nil
		case c, ok := <-changes:
			if !ok {
				return q.ended(ctx), nil
			}
			if c.Settled != nil && c.Settled.ID == i.ID {
				fmt.Fprintf(out, "\n    %s\n", c.Settled.Outcome)
				return false, nil
			}
		}
	}
}

// visible writes out every character that could disturb a terminal or a
// reader's eyes.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
