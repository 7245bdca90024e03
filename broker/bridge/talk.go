package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
)

// errWord is the end of a link on which the host says what only the container says.
var errWord = errors.New("the host says what is not for it to say")

// talk serves the typed lane of a link until the link ends.
func (k *keeper) talk(ctx context.Context, l *link.Link) {
	var both sync.WaitGroup
	has := make(chan uint64, 1)
	both.Go(func() {
		if k.show(ctx, l, has) != nil {
			_ = l.Close()
		}
	})
	both.Go(func() {
		_ = k.hear(l, has)
		_ = l.Close()
	})
	<-l.Done()
	k.keys.wake()
	both.Wait()
}

// show gives a link what the host is to know: what is seen of the container and, when it has said
// how much of the output it has, the rest of that. It returns an error when the link is of no use
// any more.
func (k *keeper) show(ctx context.Context, l *link.Link, has <-chan uint64) error {
	to := l.Typed()
	v, err := k.introduce(l, has)
	if v == nil {
		return err
	}
	var watch sync.WaitGroup
	defer watch.Wait()
	over := make(chan struct{})
	defer close(over)
	watch.Go(func() {
		select {
		case <-l.Done():
			k.output.forget(v)
		case <-over:
		}
	})
	for buf := make([]byte, 32<<10); ; {
		is := k.output.next(v, buf)
		if is.gone {
			return nil
		}
		if err := k.tell(to, is, buf[:is.n]); err != nil {
			return err
		}
		if is.ended {
			return k.part(ctx, l)
		}
	}
}

// introduce says what is seen of the container and waits for what the host says to it. What follows
// is nil when the link ends before. A keeper that could not look around only says why.
func (k *keeper) introduce(l *link.Link, has <-chan uint64) (follows *viewer, err error) {
	if k.seen == nil {
		return k.output.view(0), nil
	}
	if err := link.WriteMessage(l.Typed(), link.Message{Kind: link.Seen, Data: k.seen}); err != nil {
		return nil, err
	}
	select {
	case have := <-has:
		return k.output.view(have), nil
	case <-l.Done():
		return nil, nil
	}
}

// tell writes a piece of the output.
func (k *keeper) tell(to io.Writer, is piece, data []byte) error {
	if is.past {
		if err := link.WriteMessage(to, link.Message{Kind: link.Past, Data: link.PastData(is.lost, is.follow)}); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		if err := link.WriteMessage(to, link.Message{Kind: link.Output, Data: data}); err != nil {
			return err
		}
	}
	if is.ended {
		if err := link.WriteMessage(to, link.Message{Kind: link.Exit, Data: link.ExitData(is.code)}); err != nil {
			return err
		}
	}
	signal(k.moved)
	return nil
}

// part waits until the host knows of the program's end.
func (k *keeper) part(ctx context.Context, l *link.Link) error {
	if err := l.Drain(ctx); err != nil {
		k.parted.Store(true)
		signal(k.moved)
		return err
	}
	k.telling.Do(func() { close(k.told) })
	return nil
}

// hear does what the host says, until the link ends or something is said that cannot be. It passes
// on how many bytes of the output the host has.
func (k *keeper) hear(l *link.Link, has chan<- uint64) error {
	for from := l.Typed(); ; {
		m, err := link.ReadMessage(from)
		if err != nil {
			return err
		}
		switch m.Kind {
		case link.Keys:
			k.keys.put(m.Data, l.Done())
		case link.Go:
			cols, rows, have, err := link.ParseGo(m.Data)
			if err != nil {
				return err
			}
			if !k.begin(cols, rows) {
				k.resize(cols, rows)
			}
			select {
			case has <- have:
			default: // it has said so before
			}
		case link.Size:
			cols, rows, err := link.ParseSize(m.Data)
			if err != nil {
				return err
			}
			k.resize(cols, rows)
		default:
			return fmt.Errorf("%w: kind %d", errWord, m.Kind)
		}
	}
}

// resize sets the size of the program's terminal, if it runs.
func (k *keeper) resize(cols, rows int) {
	if isClosed(k.begun) && k.terminal != nil {
		_ = k.terminal.resize(cols, rows) // a program that has ended has no size
	}
}
