package identity

import (
	"strings"
	"testing"
)

func TestWhatPeopleCallAClient(t *testing.T) {
	for _, test := range []struct {
		client   Client
		by, want string
	}{
		{Client{}, "tui", "tui"},
		{Client{}, "", ""},
		{Client{ID: "1", Name: "box", Terminal: "/dev/pts/3"}, "tui", "box at pts/3"},
		{Client{ID: "1", Name: "box", Terminal: "/dev/pts/3"}, "cli", "cli (box at pts/3)"},
		{Client{ID: "1", Name: "box"}, "cli", "cli (box)"},
		{Client{ID: "1"}, "tui", "client 1"},
	} {
		if got := test.client.Decider(test.by); got != test.want {
			t.Errorf("%+v by %s: %q, want %q", test.client, test.by, got, test.want)
		}
	}
}

func TestNoTwoClientsHaveOneID(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		c := New(strings.Repeat("é", 100), "")
		if seen[c.ID] || len(c.ID) != 16 || len(c.Name) != maxText {
			t.Fatalf("%+v", c)
		}
		seen[c.ID] = true
	}
}
