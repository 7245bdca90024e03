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
	both.Go(func() {
		if k.show(ctx, l) != nil {
			_ = l.Close()
		}
	})
	both.Go(func() {
		_ = k.hear(l)
		_ = l.Close()
	})
	<-l.Done()
	k.keys.wake()
	both.Wait()
}

// show gives a link what the host is to know: what is seen of the container, or what the
// program has written. It returns an error when the link is of no use any more.
func (k *keeper) show(ctx context.Context, l *link.Link) error {
	to := l.Typed()
	if !isClosed(k.begun) {
		if err := link.WriteMessage(to, link.Message{Kind: link.Seen, Data: k.seen}); err != nil {
			return err
		}
	}
	select {
	case <-k.begun:
	case <-l.Done():
		return nil
	}
	v := k.output.view()
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

// hear does what the host says, until the link ends or something is said that cannot be.
func (k *keeper) hear(l *link.Link) error {
	for from := l.Typed(); ; {
		m, err := link.ReadMessage(from)
		if err != nil {
			return err
		}
		switch m.Kind {
		case link.Keys:
			k.keys.put(m.Data, l.Done())
		case link.Size, link.Go:
			cols, rows, err := link.ParseSize(m.Data)
			if err != nil {
				return err
			}
			if m.Kind == link.Go && k.begin(cols, rows) {
				continue
			}
			if isClosed(k.begun) && k.terminal != nil {
				_ = k.terminal.resize(cols, rows) // a program that has ended has no size
			}
		default:
			return fmt.Errorf("%w: kind %d", errWord, m.Kind)
		}
	}
}
