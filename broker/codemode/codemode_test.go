package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// isolatePath is the real isolate.
var isolatePath string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "isolate")
	if err != nil {
		panic(err)
	}
	isolatePath = filepath.Join(dir, ProgramName)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", isolatePath, "../../cmd/"+ProgramName)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	if err := os.Chmod(dir, 0o755); err != nil { // it is another user's when root tests
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// stub is a server that answers with its arguments, refuses git.status, and counts.
type stub struct {
	mu    sync.Mutex
	calls []Call
	most  int // that were under way together
	now   int
}

func (s *stub) do(ctx context.Context, c Call, waits func(bool)) Answer {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	switch c.Tool {
	case "status":
		return Answer{Text: "DENIED: by rule test", Decision: "deny", Rule: "test", Refused: true}
	case "large":
		return Answer{OK: true, Text: `"` + strings.Repeat("x", 2<<20) + `"`}
	case "ask":
		waits(true)
		<-ctx.Done()
		waits(false)
		return Answer{Text: "withdrawn", Decision: "deny", Refused: true}
	case "hang":
		<-ctx.Done()
		return CutOffAnswer("cut off")
	}
	return Answer{OK: true, Text: string(c.Arguments)}
}

var testTools = NewToolset([]Tool{
	{Server: "filesystem", Name: "read_file", Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Server: "git", Name: "status"},
	{Server: "test", Name: "add", Description: "Adds numbers. And more."},
	{Server: "test", Name: "large"},
	{Server: "test", Name: "ask"},
	{Server: "test", Name: "hang"},
})

// fast are limits for programs that reach them.
var fast = Limits{CPU: 400 * time.Millisecond, Idle: time.Minute, Alone: time.Minute}

func runIn(t *testing.T, r *Runner, code string) (Outcome, *stub) {
	t.Helper()
	s := &stub{}
	out, err := r.Run(t.Context(), Program{Code: code, Tools: testTools, Do: s.do})
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

func run(t *testing.T, code string) (Outcome, *stub) {
	t.Helper()
	return runIn(t, NewRunner(isolatePath, "", fast), code)
}

func TestPrograms(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"a value", `interface A { n: number } const a: A = await test.add({ n: 41 }); return a.n + 1`, "42"},
		{"no value", `await test.add({})`, "null"},
		{"types", `enum E { A = 1 } abstract class C<T> { constructor(private readonly t: T) {} } return [E.A] satisfies number[]`, "[1]"},
		{
			"a refusal", `try { await git.status() } catch (e) { return [e.name, e.decision, e.rule, e.message, e instanceof ToolError, e instanceof Error] }`,
			`["ToolError","deny","test","DENIED: by rule test",true,true]`,
		},
		{"one call after another", `let s = 0; for (let i = 0; i < 100; i++) s = (await test.add({ n: s + 1 })).n; return s`, "100"},
		{"many at a time", `const all = await Promise.all(Array.from({ length: 100 }, (_, n) => test.add({ n }))); return all.reduce((s, x) => s + x.n, 0)`, "4950"},
		{"time stands still", `const a = Date.now(), b = +new Date(); return a === b && new Date(0).getTime() === 0 && new Date() instanceof Date && typeof Date() === 'string'`, "true"},
		{"local time", `return new Date(0).toString()`, `"Thu Jan 01 1970 00:00:00 GMT+0000"`},
		{"sleep", `await sleep(1); return 1`, "1"},
		{
			"finding tools", `return [tools.find('add'), tools.declare('test.add')]`,
			`[["test.add – Adds numbers."],"/** Adds numbers. */ function add(args?: {}): Promise<unknown>;"]`,
		},
		{"what is there", `return Object.getOwnPropertyNames(globalThis).filter(n => /host|std|os$|print|Worker|require|process/.test(n))`, `[]`},
		{"no way up", `return String([].constructor.constructor('return typeof process + typeof require + typeof std + typeof os')())`, `"undefinedundefinedundefinedundefined"`},
		{"no modules", `try { await import('os') } catch (e) { return 'none' }`, `"none"`},
		{"a message to the wrong place", `try { return await test.add('x') } catch (e) { return e.message }`, `"a tool takes one object"`},
		{"too long arguments", `try { return await test.add({ x: 'x'.repeat(300000) }) } catch (e) { return e.name }`, `"RangeError"`},
		{"a tool is fixed", `'use strict'; try { test.add = null } catch {} try { globalThis.test = null } catch {} return typeof test.add`, `"function"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := run(t, c.code); out.Text() != c.want {
				t.Errorf("got %s", out.Text())
			}
		})
	}
}

// Programs that misbehave end, each for its reason, and their host goes on.
func TestHostilePrograms(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"an endless loop", "const a = 1\n\nfor (;;) {}", "processor time"},
		{"a loop that catches", `for (;;) { try { for (;;) {} } catch {} }`, "processor time"},
		// Its chain of promises grows: where the engine's memory ends first, the chain breaks.
		{"promises without end", `function f() { return Promise.resolve().then(f) } await f()`, "the program "},
		{"a large number", `let n = 3n; for (;;) n *= n`, ""},
		{"a regular expression", `return /(a+)+$/.test('a'.repeat(40) + 'b')`, ""},
		{"memory", `const a = []; for (;;) a.push({ x: 1, y: [1, 2, 3] })`, ""},
		{"one large array", `return new Array(2 ** 30).fill(1).length`, ""},
		{"a long text", `let x = 'x'; for (;;) x += x`, ""},
		{"recursion", `function f() { return f() + 1 } return f()`, ""},
		{"deep JSON", `let s = ''; for (let i = 0; i < 200000; i++) s += '['; return JSON.parse(s)`, ""},
		{"deep text", "return " + strings.Repeat("(", 100_000), ""},
		{"deep types", "type A = " + strings.Repeat("[", 100_000), ""},
		{"more calls than there may be", `for (let i = 0; i < 1000; i++) test.add({ n: i }); await new Promise(() => {})`, "more than 500 calls"},
		{"asking again and again", `for (;;) { try { await git.status() } catch {} }`, "20 calls of the program were refused"},
		{"waiting for nothing", `await new Promise(() => {})`, "nothing can settle"},
		{"an error", "\n\nthrow new TypeError('no')", "TypeError: no\n    at <anonymous> (line 3)"},
		{"an error that cannot be described", `throw { toString() { throw 1 }, toJSON() { throw 2 } }`, "cannot be described"},
		{"a value that is no JSON", `const a = {}; a.a = a; return a`, "cannot be written as JSON"},
		{"a state that is no object", `state = 5`, "state is no longer an object"},
		{"a large state", `state.x = 'x'.repeat(300000)`, "longer than 256 KiB"},
		{"an answer that is too long", `await test.large({})`, "is too long for a program"},
		{"a value that is too long", `return 'x'.repeat(2000000)`, "return less"},
		{"a shell command", "ls -la /workspace", "This is no shell"},
		{"a syntax error", "const a = 1\nconst b = ;", "line 2"},
		{"the host's function", `return __host('done', 0, 0, '1')`, "ReferenceError"},
		{"others' prototypes", `Array.prototype.push = Object.prototype.toJSON = function () { return { n: 666 } }; Promise.prototype.then = () => {}; await test.add({ n: 1 }); for (;;) {}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := run(t, c.code)
			if out.OK || !strings.Contains(out.Error, c.want) {
				t.Errorf("ok %v: %.300s", out.OK, out.Text())
			}
		})
	}
}

// What a program changes of the language changes what it sends, and nothing that others see.
func TestPollutedPrograms(t *testing.T) {
	out, s := run(t, `Object.prototype.then = null; JSON.stringify = () => 'stolen'; JSON.parse = () => 'stolen';
		Array.prototype[Symbol.iterator] = null; String.prototype.split = null;
		return await test.add({ n: 1 })`)
	if out.Text() != `{"n":1}` || len(s.calls) != 1 || string(s.calls[0].Arguments) != `{"n":1}` {
		t.Errorf("%s, calls %+v", out.Text(), s.calls)
	}
}

func TestFewCallsAtATime(t *testing.T) {
	s := &stub{}
	slow := func(ctx context.Context, c Call, waits func(bool)) Answer {
		a := s.do(ctx, c, waits)
		return a
	}
	out, err := NewRunner(isolatePath, "", fast).Run(t.Context(), Program{
		Code: `await Promise.all(Array.from({ length: 200 }, (_, n) => test.add({ n })))`, Tools: testTools, Do: slow,
	})
	if err != nil || !out.OK || len(s.calls) != 200 || s.most > maxAtOnce {
		t.Errorf("%v, %s, %d calls, %d at a time", err, out.Text(), len(s.calls), s.most)
	}
}

// What programs leave in state the next finds, also after a restart, and a failed one's too.
func TestState(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "state.json")
	r := NewRunner(isolatePath, kept, fast)
	runIn(t, r, `state.n = 1`)
	runIn(t, r, `state.n += 1; throw 1`)
	runIn(t, NewRunner(isolatePath, kept, fast), `state = { n: state.n + 1, more: '\ud800' }`)
	if out, _ := runIn(t, NewRunner(isolatePath, kept, fast), `return state.n`); out.Text() != "3" {
		t.Errorf("got %s", out.Text())
	}
}

// A person may take longer than any limit. When they are not asked, the limits hold.
func TestTheClocks(t *testing.T) {
	brief := Limits{Idle: 300 * time.Millisecond, Alone: 600 * time.Millisecond}
	for _, c := range []struct{ name, code, want string }{
		{"waiting for nobody", `await sleep(100000)`, "not counting the time of its calls"},
		{"a call that hangs", `await test.hang()`, "not counting the time in which it waited for a person"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, _ := runIn(t, NewRunner(isolatePath, "", brief), c.code); !strings.Contains(out.Error, c.want) {
				t.Errorf("got %s", out.Text())
			}
		})
	}
	t.Run("waiting for a person", func(t *testing.T) {
		r := NewRunner(isolatePath, "", brief)
		out, err := r.Run(t.Context(), Program{Code: `return await test.ask()`, Tools: testTools, Do: func(ctx context.Context, _ Call, waits func(bool)) Answer {
			waits(true)
			defer waits(false)
			person := time.NewTimer(2 * brief.Alone)
			defer person.Stop()
			select {
			case <-person.C:
			case <-ctx.Done():
			}
			return Answer{OK: true, Text: `"yes"`}
		}})
		if err != nil || out.Text() != `"yes"` {
			t.Errorf("%v, %s", err, out.Text())
		}
	})
}

// A program that is taken back ends with its calls, and says which took effect.
func TestTakingBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &stub{}
	out, err := NewRunner(isolatePath, "", fast).Run(ctx, Program{
		Code:  `await test.add({ n: 1 }); await Promise.all([test.ask(), test.hang({ where: 'here' })])`,
		Tools: testTools,
		Do: func(ctx context.Context, c Call, waits func(bool)) Answer {
			if c.Index == 3 {
				cancel()
			}
			return s.do(ctx, c, waits)
		},
	})
	want := "ERROR: the program was withdrawn\n\nCalls that took effect, which are not to be repeated:\n" +
		`1. test/add {"n":1}` + "\n" + `3. test/hang {"where":"here"} (cut off: not known)`
	if err != nil || out.Text() != want {
		t.Errorf("%v, %s", err, out.Text())
	}
}

func TestCallsThatAreNotAwaited(t *testing.T) {
	out, _ := run(t, `test.hang(); return 1`)
	if !strings.HasPrefix(out.Text(), "1\n\nThe program did not await 1 of its calls.") {
		t.Errorf("got %s", out.Text())
	}
}

func TestTheLogAndLongTexts(t *testing.T) {
	out, _ := run(t, `console.log('a', { b: 1 }, 2); console.error(new Error('x').message); return 'é'.repeat(40000)`)
	text := out.Text()
	if !strings.HasSuffix(text, "\n\nlog:\na {\"b\":1} 2\nx") || !strings.Contains(text, "put it in state") || len(text) > maxResult || !strings.HasPrefix(text, `"é`) {
		t.Errorf("%d bytes: %.40s … %s", len(text), text, text[len(text)-60:])
	}
	out, _ = run(t, `for (let i = 0; i < 2000; i++) console.log('x'.repeat(100))`)
	if !out.OK || len(out.Log) > maxLog+1 || len(out.Text()) > maxResult {
		t.Errorf("%d bytes of log: %.100s", len(out.Log), out.Error)
	}
}

// Programs that run at a time wait for each other, and none waits for one that is gone.
func TestFewProgramsAtATime(t *testing.T) {
	r := NewRunner(isolatePath, "", fast)
	ctx, cancel := context.WithCancel(t.Context())
	var begun, group sync.WaitGroup
	begun.Add(maxPrograms)
	for range maxPrograms {
		group.Go(func() {
			_, _ = r.Run(ctx, Program{Code: `await test.hang()`, Tools: testTools, Do: func(ctx context.Context, _ Call, _ func(bool)) Answer {
				begun.Done()
				<-ctx.Done()
				return CutOffAnswer("")
			}})
		})
	}
	begun.Wait()
	waiting, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("given up"))
	if _, err := r.Run(waiting, Program{Code: `return 1`, Tools: testTools}); err == nil || err.Error() != "given up" {
		t.Errorf("got %v", err)
	}
	cancel()
	group.Wait()
	if out, _ := runIn(t, r, `return 1`); out.Text() != "1" {
		t.Errorf("got %s", out.Text())
	}
}

func TestProbe(t *testing.T) {
	if err := Probe(t.Context(), isolatePath); err != nil {
		t.Error(err)
	}
	if err := Probe(t.Context(), "/bin/true"); err == nil {
		t.Error("a program that is no isolate is one")
	}
}

// Programs leave nothing behind: no descriptor and no process.
func TestNothingIsLeft(t *testing.T) {
	descriptors := func() int {
		all, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	r := NewRunner(isolatePath, "", fast)
	runIn(t, r, `return 1`) // the runtime opens some of its own
	before := descriptors()
	var group sync.WaitGroup
	for n := range 40 {
		code := []string{`return await test.add({})`, `throw 1`, `for (;;) await test.add({})`, `const a = []; for (;;) a.push('x'.repeat(1000))`}[n%4]
		group.Go(func() {
			s := &stub{}
			_, _ = r.Run(t.Context(), Program{Code: code, Tools: testTools, Do: s.do})
		})
	}
	group.Wait()
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a child is left: %v", err)
	}
}

// Each call comes with the line of the program that makes it: also where the line is inside an
// expression of many lines, or in a function that another line calls.
func TestTheLinesOfCalls(t *testing.T) {
	code := strings.Join([]string{
		`interface A { n: number }`,
		`await test.add({ line: 2 })`,
		`await test.add({ line: 3 })`,
		`  .then(() => test.add({ line: 4 }))`,
		`  .then((a: A) => test`,
		`    .add({ line: 6 }))`,
		"await Promise.all([test.add({ line: 7, s: `\n` }),",
		"  test.add({ // the language has a line end here, too:\u2028 line: 9,",
		`    s: 'é😀', a: await test.add({ line: 11 })`,
		`  }),`,
		`])`,
		`async function f(line: number) {`,
		`  return await test.add({ line })`,
		`}`,
		`await f(15); await Promise.all([17].map(line => ({ line })).map(test.add))`,
		`  await test.add({ line: 18, s: ` + "'\u202e" + strings.Repeat("x", 300) + "' })",
		`return 1`,
	}, "\n")
	for name, code := range map[string]string{"": code, "CR LF": strings.ReplaceAll(code, "\n", "\r\n"), "CR": strings.ReplaceAll(code, "\n", "\r")} {
		out, s := run(t, code)
		if !out.OK || len(s.calls) != 10 {
			t.Fatalf("%s: %d calls: %s", name, len(s.calls), out.Text())
		}
		lines := linesOf(code)
		for _, c := range s.calls {
			var a struct{ Line int }
			if err := json.Unmarshal(c.Arguments, &a); err != nil || c.Line != a.Line {
				t.Errorf("%s: line %d, not %d: %s", name, c.Line, a.Line, c.Source)
			}
			if want := text.OneLine(lines[a.Line-1], maxArg); c.Source != want || len(c.Source) > maxArg+len("…") {
				t.Errorf("%s: line %d is %q, not %q", name, a.Line, c.Source, want)
			}
		}
	}
	if out, s := run(t, `await Promise.resolve({}).then(test.add); return 1`); !out.OK || s.calls[0].Line != 0 || s.calls[0].Source != "" {
		t.Errorf("a call that no line makes: %s, %+v", out.Text(), s.calls)
	}
}
