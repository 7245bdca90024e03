package codemode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func harmless(string) bool { return false }

// effects is a server that answers with its arguments, refuses some calls, and counts.
type effects struct {
	mu    sync.Mutex
	begun map[int]int // how often, by index
	again map[int]int // calls that were given their answers from before
}

func newEffects() *effects { return &effects{begun: map[int]int{}, again: map[int]int{}} }

// run runs a program whose journal is on the disk from its beginning, and returns how it ended
// and what the journal has by then.
func (e *effects) run(t interface {
	Helper()
	Fatal(args ...any)
}, code string, j *Journal,
) (Outcome, []byte) {
	t.Helper()
	defer j.Close()
	out, err := NewRunner(isolatePath, "", fast).Run(context.Background(), Program{
		Code: code, Tools: testTools, Journal: j,
		Do: func(_ context.Context, c Call, _ func(bool)) Answer {
			e.mu.Lock()
			e.begun[c.Index]++
			e.mu.Unlock()
			if err := j.Wait(); err != nil {
				return Answer{Text: err.Error(), Decision: "lost"}
			}
			if c.Tool == "status" {
				return Answer{Text: "DENIED", Decision: "deny", Rule: "test", Refused: true}
			}
			return Answer{OK: true, Text: string(c.Arguments)}
		},
		Replayed: func(c Call, _ Answer) { e.again[c.Index]++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(j.path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out, data
}

// reopen opens a journal that a killed process has left.
func reopen(t interface {
	Helper()
	Fatal(args ...any)
}, dir, code string, data []byte,
) *Journal {
	t.Helper()
	path := filepath.Join(dir, "again.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path, code, testTools, harmless)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// genProgram draws a program that notes the order of all that happens to it.
func genProgram(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("const seen = [Math.random(), Date.now()], all = [];\nconst go = p => { all.push(p); return p };\nawait test.add({});\nconst note = v => { seen.push(v && v.n !== undefined ? v.n : String(v), Date.now()) };\n")
	n := 0
	one := func() string {
		n++
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return fmt.Sprintf("sleep(%d).then(note)", rapid.IntRange(0, 3).Draw(t, "ms"))
		case 1:
			return "git.status().catch(e => note(e.rule))"
		case 2:
			return fmt.Sprintf("test.add({ n: %d }).then(v => test.add({ n: v.n + seen.length })).then(note)", n)
		}
		return fmt.Sprintf("test.add({ n: %d, chance: Math.random() }).then(note)", n)
	}
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		var several []string
		for range rapid.IntRange(1, 5).Draw(t, "several") {
			several = append(several, "go("+one()+")")
		}
		how := rapid.SampledFrom([]string{"await Promise.all([%s]);\n", "await Promise.race([%s]);\n", "await Promise.any([%s]);\n"}).Draw(t, "how")
		fmt.Fprintf(&b, how, strings.Join(several, ", "))
	}
	b.WriteString("await Promise.all(all);\nreturn seen")
	return b.String()
}

var sameOutcome = cmpopts.IgnoreUnexported(Outcome{})

// A program that is run again with all answers that it got does the same, and makes no call. With
// those that it got up to some moment it does the same up to then, and goes on: no call is made
// twice, and none is left out.
func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		code := genProgram(t)
		first := newEffects()
		out, data := first.run(t, code, NewJournal(filepath.Join(dir, "first.jsonl"), harmless))
		if !out.OK {
			t.Fatal(out.Text())
		}
		lines := slices.Collect(bytes.Lines(data))
		cut := rapid.IntRange(1, len(lines)).Draw(t, "cut")
		e := newEffects()
		again, after := e.run(t, code, reopen(t, dir, code, bytes.Join(lines[:cut], nil)))
		if again.Diverged || !again.OK || !bytes.HasPrefix(after, bytes.Join(lines[:cut], nil)) {
			t.Fatalf("cut at %d of %d: %s\n%s\n%s", cut, len(lines), again.Text(), data, after)
		}
		for i := range again.Calls {
			if n := e.begun[i+1] + e.again[i+1]; n != 1 {
				t.Fatalf("cut at %d: call %d was made %d times, and answered %d times", cut, i+1, e.begun[i+1], e.again[i+1])
			}
		}
		for _, journal := range []struct {
			out  Outcome
			data []byte
		}{{out, data}, {again, after}} {
			e := newEffects()
			same, _ := e.run(t, code, reopen(t, dir, code, journal.data))
			if diff := cmp.Diff(journal.out, same, sameOutcome); diff != "" || len(e.begun) > 0 {
				t.Fatalf("made %v again: %s", e.begun, diff)
			}
		}
	})
}

const fiveCalls = `const all = [(await test.add({ n: Date.now() })).n];
	all.push(...await Promise.all([2, 3].map(n => test.add({ n }))).then(vs => vs.map(v => v.n)));
	await sleep(1);
	try { await git.status() } catch (e) { all.push(e.decision) }
	all.push((await test.add({ n: Math.random() })).n, Date.now());
	return all`

// Whatever is left of a journal is the beginning of what it was, or nothing.
func TestATornJournal(t *testing.T) {
	dir := t.TempDir()
	out, data := newEffects().run(t, fiveCalls, NewJournal(filepath.Join(dir, "first.jsonl"), harmless))
	lines := slices.Collect(bytes.Lines(data))
	if !out.OK || len(lines) != 7 {
		t.Fatalf("%s\n%s", out.Text(), data)
	}
	whole := 0
	for n := range len(data) + 1 {
		if whole < len(lines) && n == len(bytes.Join(lines[:whole+1], nil)) {
			whole++
		}
		path := filepath.Join(dir, "torn.jsonl")
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := OpenJournal(path, fiveCalls, testTools, harmless)
		if (err == nil) != (whole > 0) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if err != nil {
			continue
		}
		if len(j.past) != whole-1 || !cmp.Equal(j.size, len(bytes.Join(lines[:whole], nil))) {
			t.Fatalf("%d bytes: %d answers of %d", n, len(j.past), whole-1)
		}
		j.Close()
	}
	for cut := range lines[1:] { // after every answer
		e := newEffects()
		again, after := e.run(t, fiveCalls, reopen(t, dir, fiveCalls, bytes.Join(lines[:cut+1], nil)))
		if !again.OK || len(e.begun)+len(e.again) != 5 || len(slices.Collect(bytes.Lines(after))) != 7 {
			t.Errorf("cut at %d: made %v, answered %v: %s", cut, e.begun, e.again, again.Text())
		}
	}
}

// A journal that tells of another program than this one is not followed, and no call is made.
func TestAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	_, data := newEffects().run(t, fiveCalls, NewJournal(filepath.Join(dir, "first.jsonl"), harmless))
	lines := slices.Collect(bytes.Lines(data))
	swapped := slices.Clone(lines)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	for name, lines := range map[string][][]byte{
		"another order":        swapped,
		"an answer left out":   slices.Delete(slices.Clone(lines), 1, 2),
		"an answer twice":      slices.Insert(slices.Clone(lines), 2, lines[1]),
		"other arguments":      {lines[0], bytes.Replace(lines[1], []byte(`"asked":"2 `), []byte(`"asked":"2 0`), 1)},
		"another tool":         {lines[0], bytes.Replace(lines[1], []byte(`"asked":"2 `), []byte(`"asked":"3 `), 1)},
		"a call never made":    append(slices.Clone(lines), bytes.Replace(lines[6], []byte(`"id":6,"index":5`), []byte(`"id":7,"index":6`), 1)),
		"another place":        {lines[0], bytes.Replace(lines[1], []byte(`"index":1`), []byte(`"index":2`), 1)},
		"another time":         {bytes.Replace(lines[0], []byte(`"now":1`), []byte(`"now":2`), 1), lines[1], lines[2]},
		"an answer for no one": {lines[0], bytes.Replace(lines[1], []byte(`"id":1`), []byte(`"id":9`), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(bytes.Join(lines, nil), data) || bytes.Equal(lines[1], data) {
				t.Fatal("it is the same")
			}
			e := newEffects()
			if out, _ := e.run(t, fiveCalls, reopen(t, t.TempDir(), fiveCalls, bytes.Join(lines, nil))); !out.Diverged || out.OK || len(e.begun) > 0 {
				t.Errorf("diverged %v, made %v: %s", out.Diverged, e.begun, out.Text())
			}
		})
	}
	path := filepath.Join(dir, "kept.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, fiveCalls+" ", testTools, harmless); err == nil {
		t.Error("the journal of another text is opened")
	}
	changed := slices.Clone(testTools.tools)
	changed[1].Description = "Another one."
	if _, err := OpenJournal(path, fiveCalls, NewToolset(changed), harmless); err == nil {
		t.Error("the journal is opened for other tools")
	}
	if err := os.WriteFile(path, append(bytes.Clone(lines[0]), "{\n{}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, fiveCalls, testTools, harmless); err == nil {
		t.Error("a damaged journal is opened")
	}
}

// What is too much or secret is not kept, and what was kept before of that program goes.
func TestWhatIsNotKept(t *testing.T) {
	large := `const x = 'x'.repeat(200000); for (let i = 0; i < 60; i++) await test.add({ x }); return 1`
	known := `await test.add({ n: 1 }); await test.add({ n: 'a secret' }); await test.add({ n: 2 }); return 1`
	for name, c := range map[string]struct{ code, secret, why string }{
		"too much":           {large, "none", errTooMuch.Error()},
		"an answer":          {known, `{"n":"a secret"}`, errSecret.Error()},
		"the program itself": {known, known, errSecret.Error()},
		"the state":          {known, "{}", errSecret.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			j := NewJournal(filepath.Join(t.TempDir(), "journals", "a.jsonl"), func(text string) bool { return text == c.secret })
			e := newEffects()
			out, data := e.run(t, c.code, j)
			if len(data) > 0 || !strings.Contains(out.Text(), c.why) {
				t.Errorf("%d bytes are kept: %.300s", len(data), out.Text())
			}
		})
	}
	var none *Journal
	if none.Wait() == nil {
		t.Error("without a journal a program can be run again")
	}
	none.keep(kept{})
	none.Close()
}
