package client

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// A daemon with another engine than the one that a person names is refused, with both names.
func TestEngineOfTheDaemon(t *testing.T) {
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, link := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		named   Engine
		daemon  wire.Engine
		refused []string
	}{
		"none is named":               {Engine{}, wire.Engine{Address: "unix:///a"}, nil},
		"the same":                    {Engine{"box", "unix:///a"}, wire.Engine{Address: "unix:///a"}, nil},
		"the same by a link":          {Engine{link, "unix://" + link}, wire.Engine{Address: "unix://" + socket}, nil},
		"another":                     {Engine{"box", "unix:///a"}, wire.Engine{Address: "unix:///b", Source: "DOCKER_HOST"}, []string{"unix:///b (from DOCKER_HOST), not box (unix:///a)"}},
		"another machine":             {Engine{"tcp://a", "tcp://a"}, wire.Engine{Address: "unix:///b"}, []string{"unix:///b (from its environment), not tcp://a"}},
		"one that does not report it": {Engine{"box", "unix:///a"}, wire.Engine{}, []string{"does not report"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.named.check(c.daemon)
			if (err != nil) != (c.refused != nil) {
				t.Fatal(err)
			}
			for _, text := range c.refused {
				if !strings.Contains(err.Error(), text) || !strings.Contains(fault.Hint(err), "'ironcurtain-mux stop'") {
					t.Errorf("error %q, to do: %q", err, fault.Hint(err))
				}
			}
		})
	}
}
