package tui

import "testing"

func TestOptionsAreChecked(t *testing.T) {
	for _, test := range []struct {
		o  Options
		ok bool
	}{
		{Options{}, true},
		{Options{CommandKey: "ctrl+b", Theme: "light", Notify: "none"}, true},
		{Options{CommandKey: "ctrl+space"}, true},
		{Options{CommandKey: "alt+x"}, true},
		{Options{Prefix: "ctrl+b"}, true},
		{Options{Prefix: "b"}, false},
		{Options{Prefix: "ctrl+a"}, false},
		{Options{CommandKey: "a"}, false},
		{Options{CommandKey: "ctrl+"}, false},
		{Options{CommandKey: "ctrl+ab"}, false},
		{Options{CommandKey: "hyper+a"}, false},
		{Options{Theme: "neon"}, false},
		{Options{Notify: "loudly"}, false},
	} {
		err := test.o.withDefaults().check()
		if (err == nil) != test.ok {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
}
