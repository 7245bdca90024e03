package policy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDraft(t *testing.T) {
	text, doubts, err := Draft("files", []Definition{
		{"moveFile", "Moves.\nMore.", []byte(`{"type":"object","properties":{"sourcePath":{"type":"string"},"destinationPath":{"type":"string"},"overwrite":{"type":"boolean"}}}`)},
		{"read_file", "Reads", []byte(`{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer"},"mode":{"type":"string","enum":["a","b"]}}}`)},
		{"delete-file", "", []byte(`{"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}}}`)},
		{"process_file", "", []byte(`{"type":"object","properties":{"path":{"type":"string"},"options":{"type":"object"},"note":{"type":"string"}}}`)},
		{"send", "", []byte(`{"type":"object","properties":{"to":{"type":"array","items":{"type":"string"}},"URL":{"type":"string"},"headers":{"type":"object"},"query":{"type":"string"},"tags":{"type":"array","items":{"type":"string","enum":["x"]}}}}`)},
		{"nothing", "", []byte(`{"type":"object"}`)},
	}, nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("draft", text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]Role{
		"moveFile sourcePath": {ReadPath, DeletePath}, "moveFile destinationPath": {WritePath}, "moveFile overwrite": nil,
		"read_file file_path": {ReadPath}, "read_file limit": nil, "read_file mode": nil, "delete-file paths": {DeletePath},
		"process_file path": {ReadPath, WritePath, DeletePath}, "process_file options": {FreeText}, "process_file note": {FreeText},
		"send to": {EmailAddress}, "send URL": {FetchURL}, "send headers": {HTTPHeaders}, "send query": {SearchQuery}, "send tags": nil,
	} {
		tool, arg, _ := strings.Cut(name, " ")
		if got := a.tools[toolKey{"files", tool}].args[arg].roles; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if want := []string{"process_file note", "process_file options", "process_file path"}; !slices.Equal(doubts, want) {
		t.Errorf("doubts %q, want %q", doubts, want)
	}
	// A draft by itself allows nothing.
	e, _ := defaultEngine(t, func(c *Config) { c.Annotations = a })
	for tool, args := range map[string]string{"read_file": `{"file_path":"a"}`, "process_file": `{"note":"x"}`, "nothing": `{}`} {
		if v := e.Evaluate(Call{Server: "files", Tool: tool, Arguments: []byte(args)}); v.Decision == Allow {
			t.Errorf("%s: allowed by %s", tool, v.Rule)
		}
	}
	if _, _, err := Draft("x", []Definition{{"t", "", []byte(`[]`)}}, nil, time.Unix(0, 0)); err == nil {
		t.Error("a schema that is none was accepted")
	}
}

// What a person has corrected in a draft stays in the next one; only new arguments are guessed.
func TestDraftKeepsCorrections(t *testing.T) {
	tools := []Definition{{"read_file", "", []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	first, _, err := Draft("files", tools, nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	corrected := strings.Replace(string(first), `"read-path"`, `"write-path"`, 1)
	tools[0].InputSchema = []byte(`{"type":"object","properties":{"path":{"type":"string"},"note":{"type":"string"}}}`)
	second, doubts, err := Draft("files", tools, []byte(corrected), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("draft", second)
	if err != nil {
		t.Fatal(err)
	}
	args := a.tools[toolKey{"files", "read_file"}].args
	if !slices.Equal(args["path"].roles, []Role{WritePath}) || !slices.Equal(args["note"].roles, []Role{FreeText}) || !slices.Equal(doubts, []string{"read_file note"}) {
		t.Errorf("%+v, doubts %q", args, doubts)
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{"filePath": "file path", "file_path": "file path", "URL": "url", "imageURL": "image url", "get-file2": "get file2", "": ""} {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
