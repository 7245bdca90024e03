package accept

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// broken is a listener whose accept fails until it is to be closed.
type broken struct {
	net.Listener
	left int
}

func (b *broken) Accept() (net.Conn, error) {
	if b.left--; b.left < 0 {
		return nil, net.ErrClosed
	}
	return nil, syscall.EMFILE
}

// Errors pass, after longer and longer pauses; a listener that is closed does not.
func TestNextTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, told := time.Now(), 0
		_, err := Next(t.Context(), &broken{left: 12}, func(err error, _ time.Duration) {
			if told++; !errors.Is(err, syscall.EMFILE) {
				t.Error(err)
			}
		})
		if !errors.Is(err, net.ErrClosed) || told != 12 {
			t.Errorf("%v after %d failures", err, told)
		}
		if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
			t.Errorf("it paused for %v", took)
		}
	})
}

// Whoever ends it does not wait for a pause.
func TestNextEndsWhilePausing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		_, err := Next(ctx, &broken{left: 12}, func(error, time.Duration) { cancel() })
		if !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
