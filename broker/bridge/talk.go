package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
)

// errUnexpected means that the host sent a message that only the container sends.
var errUnexpected = errors.New("the host sent an unexpected message")

// talk serves the typed lane of a link until the link ends.
func (k *keeper) talk(ctx context.Context, l *link.Link) {
	var both sync.WaitGroup
	has := make(chan uint64, 1)
	both.Go(func() {
		if k.send(ctx, l, has) != nil {
			_ = l.Close()
		}
	})
	both.Go(func() {
		_ = k.receive(l, has)
		_ = l.Close()
	})
	<-l.Done()
	k.keys.wake()
	both.Wait()
}

// send sends the report and, when the host has said how much of the output it has, the rest of the
// output. After an error the link is of no use any more.
func (k *keeper) send(ctx context.Context, l *link.Link, has <-chan uint64) error {
	to := l.Typed()
	v, err := k.sendReport(l, has)
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
			k.output.dropViewer(v)
		case <-over:
		}
	})
	for buf := make([]byte, 32<<10); ; {
		is := k.output.next(v, buf)
		if is.gone {
			return nil
		}
		if err := k.sendPiece(to, is, buf[:is.n]); err != nil {
			return err
		}
		if is.ended {
			return k.awaitExitReceived(ctx, l)
		}
	}
}

// sendReport sends the report and waits for the host's go. It returns the viewer to send the output
// to; nil if the link ends before. Without a report, the output explains why there is none.
func (k *keeper) sendReport(l *link.Link, has <-chan uint64) (follows *viewer, err error) {
	if k.seen == nil {
		return k.output.addViewer(0), nil
	}
	if err := link.WriteMessage(l.Typed(), link.Message{Kind: link.Seen, Data: k.seen}); err != nil {
		return nil, err
	}
	select {
	case have := <-has:
		return k.output.addViewer(have), nil
	case <-l.Done():
		return nil, nil
	}
}

// sendPiece sends a piece of the output.
func (k *keeper) sendPiece(to io.Writer, is piece, data []byte) error {
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

// awaitExitReceived waits until the host has received the program's exit.
func (k *keeper) awaitExitReceived(ctx context.Context, l *link.Link) error {
	if err := l.Drain(ctx); err != nil {
		k.closedByHost.Store(true)
		signal(k.moved)
		return err
	}
	k.telling.Do(func() { close(k.told) })
	return nil
}

// receive handles the host's messages, until the link ends or an unexpected one is received. It sends
// to has how many bytes of the output the host has.
func (k *keeper) receive(l *link.Link, has chan<- uint64) error {
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
			default: // a repeated go
			}
		case link.Size:
			cols, rows, err := link.ParseSize(m.Data)
			if err != nil {
				return err
			}
			k.resize(cols, rows)
		default:
			return fmt.Errorf("%w: kind %d", errUnexpected, m.Kind)
		}
	}
}

// resize sets the size of the program's terminal, if it runs.
func (k *keeper) resize(cols, rows int) {
	if isClosed(k.begun) && k.terminal != nil {
		_ = k.terminal.resize(cols, rows) // fails if the program has ended
	}
}
