package policy

import (
	"slices"
	"testing"
)

// A person sees each rule, tool and list value that changes, and nothing else.
func TestDifference(t *testing.T) {
	_, annotations := Default()
	const (
		docs  = `{"name":"docs","if":{"paths":{"roles":["read-path"],"within":"~/Documents"}},"then":"allow"}`
		music = `{"name":"music","if":{"server":["filesystem"],"paths":{"roles":["read-path"],"within":"~/Music"}},"then":"escalate"}`
		wider = `{"name":"docs","if":{"paths":{"roles":["read-path"],"within":"~"}},"then":"allow"}`
		other = `{"name":"docs","description":"other words","reason":"other words","if":{"paths":{"roles":["read-path"],"within":"~/Documents"}},"then":"allow"}`
	)
	lists := func(values string) *Lists {
		l, err := ParseLists("lists.json", []byte(`{"lists":{"hosts":{"values":[`+values+`],"manualAdditions":[],"manualRemovals":[],"resolvedAt":"","inputHash":""}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	of := func(rules string, l *Lists) Files { return Files{compiledRules(t, rules), annotations, l} }
	for name, c := range map[string]struct {
		from, to Files
		want     []string
	}{
		"nothing":     {of(docs, nil), of(docs, nil), nil},
		"other words": {of(docs, nil), of(other, nil), nil},
		"added":       {of(docs, nil), of(docs+","+music, nil), []string{`+ rule music: escalate, filesystem, read-path within ~/Music`}},
		"gone":        {of(docs+","+music, nil), of(music, nil), []string{`- rule docs: allow, every server, read-path within ~/Documents`}},
		"wider": {of(docs, nil), of(wider, nil), []string{
			`- rule docs: allow, every server, read-path within ~/Documents`, `+ rule docs: allow, every server, read-path within ~`,
		}},
		"order":   {of(docs+","+music, nil), of(music+","+docs, nil), []string{"~ the rules are in another order: music, docs"}},
		"lists":   {of("", lists(`"a","b"`)), of("", lists(`"b","c"`)), []string{"- list hosts: a", "+ list hosts: c"}},
		"no list": {of("", lists(`"a"`)), of("", nil), []string{"- list hosts: a"}},
	} {
		if got := c.from.Difference(c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	own, err := ParseAnnotations("annotations.json", []byte(restrictTools))
	if err != nil {
		t.Fatal(err)
	}
	got := Files{compiledRules(t, ""), annotations, nil}.Difference(Files{compiledRules(t, ""), own, nil})
	if !slices.Contains(got, "- tool git/git_push") || slices.ContainsFunc(got, func(s string) bool { return s[0] == '~' && s[len(s)-1] == ':' }) {
		t.Errorf("tools: %q", got)
	}
}
