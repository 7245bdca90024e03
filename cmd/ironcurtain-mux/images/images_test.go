package images

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

var some = []docker.Image{
	{Name: "claude-code", Tag: "ironcurtain/claude-code:1", Present: true},
	{Name: "layer", Tag: "ironcurtain/layer:1", Parent: "ironcurtain/claude-code:1", Present: true},
	{Name: "layer", Tag: "ironcurtain/layer:2", Parent: "foreign:1", Present: true},
	{Name: "layer", Tag: "ironcurtain/layer:3", Present: true},
	{Name: "shell", Tag: "ironcurtain/shell:1"},
}

// Whoever removes images by name removes the layers on them, and no others.
func TestLayersGoWithTheirImage(t *testing.T) {
	for names, want := range map[string]string{
		"claude-code":       "claude-code:1 layer:1",
		"shell":             "shell:1",
		"layer":             "layer:1 layer:2 layer:3",
		"shell claude-code": "claude-code:1 layer:1 shell:1",
	} {
		t.Run(names, func(t *testing.T) {
			var got []string
			for _, i := range some {
				if named(some, i, strings.Fields(names)) {
					got = append(got, strings.TrimPrefix(i.Tag, "ironcurtain/"))
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %q, want %s", got, want)
			}
		})
	}
}

// The table says which image a layer is on.
func TestTableNamesTheImageOfALayer(t *testing.T) {
	var out strings.Builder
	if err := printImages(&out, some, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ironcurtain/layer:1 on ironcurtain/claude-code:1\n", "ironcurtain/layer:2 on foreign:1\n", "ironcurtain/layer:3\n"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the table is\n%s", out.String())
			}
		})
	}
}
