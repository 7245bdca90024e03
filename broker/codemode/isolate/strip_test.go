package isolate

import (
	"strings"
	"testing"
)

// Lines of what the engine runs lead back to the lines of the program, also where types were
// taken out.
func TestLinesLeadBack(t *testing.T) {
	code := "interface A {\n  n: number\n}\ntype B = A\n\nconst a: A = { n: 1 }\nfunction f(\n  x: B,\n): number {\n  throw new Error('here')\n}\nreturn f(a)"
	js, lines, err := strip(code)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for n, line := range strings.Split(js, "\n") {
		if strings.Contains(line, "here") {
			at = n + 1
		}
	}
	if at == 10 || lines.line(at, 3) != 10 {
		t.Errorf("line %d leads to %d of\n%s", at, lines.line(at, 3), js)
	}
	if got := lines.inText("at f (<input>:" + "99:1)"); got != "at f (<input>:99:1)" {
		t.Errorf("a line that there is not: %s", got)
	}
	var none *sourceMap
	if none.line(1, 1) != 0 || newSourceMap([]byte(`no JSON`)) != nil || len(variableLengths("?")) > 0 {
		t.Error("a map that is none knows lines")
	}
}

func TestShellCommandsAreTold(t *testing.T) {
	for code, is := range map[string]bool{
		"ls -la": true, "  git status": true, "$ make": true, "#!/bin/sh": true, "cat": true,
		"const ls = 1": false, "find(1)": false, "git.git_status({})": false, "return 1": false, "going(1)": false,
	} {
		if got := notAShell(code) != ""; got != is {
			t.Errorf("%q: %v", code, got)
		}
	}
}
