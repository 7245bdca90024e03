package reach_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
)

// brittle is an engine that cannot be reached after some time.
type brittle struct {
	*inside
	gone atomic.Bool
}

func (e *brittle) Stream(ctx context.Context, id string, argv []string, user string) (net.Conn, error) {
	if e.gone.Load() {
		return nil, errors.New("the engine is away")
	}
	return e.inside.Stream(ctx, id, argv, user)
}

// What is typed while the container cannot be reached is lost with the link. Only then the person is
// told.
func TestTypedIntoALinkThatIsGivenUp(t *testing.T) {
	for _, typed := range []bool{false, true} {
		t.Run(fmt.Sprint("typed: ", typed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, o, told := newInside(t), order(), make(chan string, 10)
				o.Tell = func(text string) { told <- text }
				engine, s := &brittle{inside: in}, reach.NewStream()
				in.running.Go(func() {
					l := <-in.links
					in.say(l, link.Message{Kind: link.Seen, Data: []byte("all is well")})
					in.hear(l)
					in.say(l, link.Message{Kind: link.Past, Data: link.PastData(0, 0)})
					if m := in.hear(l); m.Kind != link.Keys || string(m.Data) != "arrives" {
						t.Errorf("heard %d, %q", m.Kind, m.Data)
					}
				})
				if err := s.Begin(t.Context(), engine, in, o); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Write([]byte("arrives")); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second) //nolint:forbidigo // on the clock of synctest
				engine.gone.Store(true)
				in.cut()
				if typed {
					if _, err := s.Write([]byte("does not")); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(6 * time.Minute) //nolint:forbidigo // likewise
				var all []string
				for len(told) > 0 {
					all = append(all, <-told)
				}
				if got := strings.Contains(strings.Join(all, "\n"), "did not arrive"); got != typed {
					t.Errorf("the person is told %q", all)
				}
				_ = s.Close()
				in.mu.Lock()
				_ = in.link.Close()
				in.mu.Unlock()
				in.running.Wait()
			})
		})
	}
}
