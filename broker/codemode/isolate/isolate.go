package isolate

import (
	"bufio"
	_ "embed" // the prelude
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/quickjs"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/confine"
)

//go:embed prelude.js
var prelude string

// Limits of the process. The processor time of a program comes in its frame; the kernel's limit is
// for a process that is no longer watched.
const (
	engineMemory = 64 << 20 // bytes for a program's values
	memory       = 224 << 20
	seconds      = 15
	stack        = 48 << 20
	maxLog       = 64 << 10 // bytes of all lines of the log
)

// isolate is a process with one program.
type isolate struct {
	vm    *quickjs.VM
	in    io.Reader
	out   io.Writer
	glue  map[string]quickjs.Value // what the prelude returns
	lines *sourceMap               // of the program; nil before it runs

	open   int // calls without an answer
	logged int
	state  string
	end    *wire.Frame // how the program has ended; nil before
	spent  atomic.Bool // its processor time
	broken error       // of the connection to the host
}

// Main is the whole life of the process: it locks itself, runs one program and returns.
func Main(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(stack)
	debug.SetMemoryLimit(stack)
	i := &isolate{in: bufio.NewReaderSize(in, 64<<10), out: out, state: "{}"}
	if err := i.makeEngine(); err != nil {
		return fmt.Errorf("make the engine: %w", err)
	}
	warmUp()
	if err := confine.Lock(confine.Limits{Memory: memory, Seconds: seconds, Open: 8}); err != nil {
		return err
	}
	if err := wire.Write(out, wire.Frame{Kind: wire.Ready}); err != nil {
		return err
	}
	f, err := wire.Read(i.in)
	switch {
	case errors.Is(err, io.EOF):
		return nil // it was not needed
	case err != nil || f.Kind != wire.Run:
		return errors.Join(err, errors.New("there is no program"))
	}
	go i.watch(time.Duration(f.CPU) * time.Millisecond)
	end := i.run(f)
	end.Kind, end.State = wire.Done, i.state
	if !end.OK {
		end.Text = strings.TrimRight(end.Text, "\n") + notAShell(f.Code)
	}
	err = wire.Write(out, end)
	if errors.Is(err, wire.ErrTooLarge) {
		err = wire.Write(out, wire.Frame{Kind: wire.Done, State: "{}", Text: "what the program returns is longer than a message can be: put it in state in parts, or return less"})
	}
	return errors.Join(err, i.broken)
}

// warmUp makes the Go runtime load what it could not load after the lock.
func warmUp() {
	time.AfterFunc(time.Hour, func() {}).Stop() // the poller, which comes with the first timer
	_ = time.Now().Local().String()             // the time zone
}

// processor is the processor time that the process has used.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watch stops the program at the end of its processor time.
func (i *isolate) watch(limit time.Duration) {
	began := processor()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if processor()-began >= limit {
			i.spent.Store(true)
			i.vm.Interrupt()
		}
	}
}

// makeEngine makes the engine, and runs the part of the prelude that does not depend on the
// program.
func (i *isolate) makeEngine() (err error) {
	if i.vm, err = quickjs.NewVM(); err != nil {
		return err
	}
	i.vm.SetMemoryLimit(engineMemory)
	if err := i.vm.RegisterFunc("__host", i.asked, false); err != nil {
		return err
	}
	glue, err := i.vm.EvalValue(prelude, quickjs.EvalGlobal)
	if err != nil {
		return fmt.Errorf("prelude: %w", err)
	}
	i.glue = map[string]quickjs.Value{}
	for _, name := range []string{"setup", "deliver", "watch"} {
		atom, err := i.vm.NewAtom(name)
		if err != nil {
			return err
		}
		if i.glue[name], err = glue.GetPropertyValue(atom); err != nil {
			return err
		}
	}
	return nil
}

// asked handles what the prelude asks of the host. Nothing but the prelude can call it.
func (i *isolate) asked(kind string, id, what int, text, place string) string {
	switch kind {
	case "call":
		i.open++
		i.send(wire.Frame{Kind: wire.Call, ID: int64(id), Tool: int64(what), Line: int64(i.lines.caller(place)), Text: text})
	case "sleep":
		i.open++
		ms, _ := strconv.ParseFloat(text, 64)
		i.send(wire.Frame{Kind: wire.Sleep, ID: int64(id), Now: int64(min(max(ms, 0), 1e9))})
	case "log":
		if room := maxLog - i.logged; room > 0 {
			text = strings.ToValidUTF8(text[:min(len(text), room)], "")
			i.logged += len(text) + 1
			i.send(wire.Frame{Kind: wire.Log, Text: text})
		}
	case "state":
		i.state = text
	case "done", "fail":
		if i.end == nil {
			i.end = &wire.Frame{OK: kind == "done", Text: text}
		}
	}
	return ""
}

// send sends a frame. If that fails, the host is gone, and the program is stopped.
func (i *isolate) send(f wire.Frame) {
	if err := wire.Write(i.out, f); err != nil {
		i.broken = err
		i.vm.Interrupt()
	}
}

// run runs the program to its end.
func (i *isolate) run(f wire.Frame) wire.Frame {
	js, lines, err := strip(f.Code)
	if err != nil {
		return failed(err.Error())
	}
	i.lines = lines
	i.state = f.State
	if _, err := i.glue["setup"].Call(quickjs.UndefinedValue, f.Tools, f.State, float64(f.Seed), float64(f.Now)); err != nil {
		return failed("the program could not be prepared: " + err.Error())
	}
	p, err := i.vm.EvalValue(js, quickjs.EvalGlobal)
	if end, over := i.over(err); over {
		return end
	}
	if _, err := i.glue["watch"].Call(quickjs.UndefinedValue, p); err != nil {
		return failed(i.explain(err))
	}
	for {
		n, err := i.vm.ExecutePendingJobs()
		if end, over := i.over(err); over {
			return end
		}
		if n > 0 {
			continue
		}
		if i.open == 0 {
			return failed("the program awaits a promise that nothing can settle")
		}
		if end, over := i.receive(); over {
			return end
		}
	}
}

// receive waits for the answer to a call and gives it to the program.
func (i *isolate) receive() (wire.Frame, bool) {
	i.send(wire.Frame{Kind: wire.Idle})
	r, err := wire.Read(i.in)
	switch {
	case err != nil:
		i.broken = err
		return failed(err.Error()), true
	case r.Kind != wire.Result:
		return failed("the host sent a frame of the kind " + string(r.Kind)), true
	}
	i.open--
	_, err = i.glue["deliver"].Call(quickjs.UndefinedValue, float64(r.ID), r.OK, r.Text, r.Decision, r.Rule, float64(r.Now))
	return i.over(err)
}

// over returns how the program has ended, if it has. err is the engine's last error.
func (i *isolate) over(err error) (wire.Frame, bool) {
	switch {
	case i.broken != nil:
		return failed(i.broken.Error()), true
	case i.spent.Load():
		return failed("the program has used up its processor time" + i.place(err)), true
	case i.end != nil:
		if i.end.OK {
			return *i.end, true
		}
		return failed(i.lines.inText(i.end.Text)), true
	case err != nil:
		return failed(i.explain(err)), true
	}
	return wire.Frame{}, false
}

// explain returns an error of the engine as the program's author can read it.
func (i *isolate) explain(err error) string {
	if text := err.Error(); text != "" && text != "null" {
		return i.lines.inText(text) + i.place(err)
	}
	return "out of memory" // there is not even memory for an error
}

// place returns on which line an error of the engine happened, or "".
func (i *isolate) place(err error) string {
	var e *quickjs.Error
	if !errors.As(err, &e) {
		return ""
	}
	if line := i.lines.firstLine(e.Stack); line > 0 {
		return fmt.Sprintf(", at line %d", line)
	}
	return ""
}

func failed(text string) wire.Frame { return wire.Frame{Text: text} }
