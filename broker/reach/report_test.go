package reach_test

import (
	"errors"
	"net"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

func TestApprove(t *testing.T) {
	judged := errors.New("it is not confined")
	for name, tt := range map[string]struct {
		say   link.Message // what the container says first
		check error
		ends  bool // the container ends
		want  error
	}{
		"as ordered":  {say: link.Message{Kind: link.Seen}},
		"not ordered": {say: link.Message{Kind: link.Seen}, check: judged, want: judged},
		"ended":       {ends: true, want: reach.ErrUnseen},
	} {
		t.Run(name, func(t *testing.T) {
			in, path := newInside(t), filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			if tt.ends {
				in.ended <- docker.Exit{Code: 1}
			} else {
				in.running.Go(func() {
					conn, err := net.Dial("unix", path)
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					if err := link.WriteMessage(conn, tt.say); err != nil {
						t.Error(err)
					}
					if m, err := link.ReadMessage(conn); (err == nil && m.Kind == link.Go) != (tt.check == nil) {
						t.Errorf("it hears %v, %v", m, err)
					}
				})
			}
			if err := reach.Approve(t.Context(), l, in, func([]byte) error { return tt.check }); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// If a container ends while it reports, its socket has worked.
func TestAReportThatIsCutShort(t *testing.T) {
	in, path := newInside(t), filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := reach.Approve(t.Context(), l, in, func([]byte) error { return nil }); err == nil || errors.Is(err, reach.ErrUnseen) {
		t.Errorf("%v", err)
	}
}
