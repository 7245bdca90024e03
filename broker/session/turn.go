package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// Task is a text for an agent that has no terminal.
type Task struct {
	Text string
	// Spans say which parts of Text a person typed or pasted for this session. Without spans the text
	// is not a receipt.
	Spans  []receipt.Span
	Client identity.Client // in whose terminal it was typed
	Limit  time.Duration   // how long the turn may take, including the session's start; 0: no limit
	Files  bool            // whether to set FilesChanged of the Turn
}

// Turn is the result of a task that an agent carried out without a terminal.
type Turn struct {
	Text    string  `json:"text"`              // the agent's answer, or what it printed before it failed
	Failure string  `json:"failure,omitempty"` // why it failed, in one line
	End     TurnEnd `json:"end"`
	TookMs  int64   `json:"tookMs"`
	Used    *Usage  `json:"used,omitempty"` // what this turn used of models; nil without a model
	// Events are the agent's events, in the agent's format, if it reports any, followed by the
	// account's events about the budget.
	Events json.RawMessage `json:"events,omitempty"`
	// FilesChanged are the files of the workspace that changed, outside of .git directories.
	// FilesMissed says why some or all of them are missing.
	FilesChanged []FileChange `json:"filesChanged"`
	FilesMissed  string       `json:"filesMissed,omitempty"`
}

// TurnEnd says how a turn ended.
type TurnEnd string

// The ends of a turn.
const (
	TurnAnswered   TurnEnd = "answered"
	TurnFailed     TurnEnd = "failed"
	TurnTimedOut   TurnEnd = "timed-out"   // it reached its limit
	TurnOverBudget TurnEnd = "over-budget" // the session's budget was used up
	// TurnInterrupted is the end of a turn whose caller stopped waiting, or whose container was lost.
	// Only transcripts contain it.
	TurnInterrupted TurnEnd = "interrupted"
)

// cutShort is the cause of a turn's context that its limit or the budget has ended.
type cutShort struct {
	end  TurnEnd
	text string
}

func (c *cutShort) Error() string { return c.text }

// turnFile is the file in the container with the process group of the current turn. An agent that
// changes it can make only its own processes be killed.
const turnFile = "/tmp/.ironcurtain-turn"

// idleCommand is the main process of an idle session's container.
var idleCommand = []string{"sleep", "infinity"}

// Typing returns how to type a text into the agent's terminal.
func (s *Session) Typing(text string) agent.Submission { return s.adapter.Submit(text) }

// Turn gives the agent of an idle session one task and waits for the answer. During the turn, what a
// person typed of the task is the session's receipt. The turn ends early when it reaches its limit, or
// the session's budget of time is used up.
func (s *Session) Turn(ctx context.Context, task Task) (Turn, error) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if task.Limit > 0 {
		over := &cutShort{TurnTimedOut, "it took longer than " + timespan.String(task.Limit)}
		defer time.AfterFunc(task.Limit, func() { cancel(over) }).Stop()
	}
	select {
	case <-s.started:
	case <-ctx.Done():
		return endedEarly(ctx, Turn{}, context.Cause(ctx), began)
	}
	s.turns.Lock()
	defer s.turns.Unlock()
	s.count(func(t *tally) { t.turn = true })
	defer s.count(func(t *tally) { t.turn = false })
	turn, err := s.typedTurn(ctx, task, cancel)
	turn, err = endedEarly(ctx, turn, err, began)
	if err == nil {
		s.addBudgetEvents(&turn)
	}
	s.keepTurn(task, began, turn, err)
	return turn, err
}

// endedEarly replaces the error by the end of the turn if the limit or the budget has ended it.
func endedEarly(ctx context.Context, turn Turn, err error, began time.Time) (Turn, error) {
	over := (*cutShort)(nil)
	if err == nil || !errors.As(context.Cause(ctx), &over) {
		return turn, err
	}
	turn.Failure, turn.End, turn.TookMs = over.text, over.end, time.Since(began).Milliseconds()
	return turn, nil
}

// typedTurn carries out a task. During it the typed parts are the session's receipt, and the turn ends
// when the budget of time is used up.
func (s *Session) typedTurn(ctx context.Context, task Task, cancel context.CancelCauseFunc) (Turn, error) {
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { s.watchTime(watching, cancel) })
	defer watch.Wait()
	defer stop()
	if len(task.Spans) > 0 {
		if _, err := s.AddReceipt(task.Text, task.Spans, task.Client); err != nil {
			return Turn{}, fmt.Errorf("give a task: %w", err)
		}
		defer s.deps.Receipts.Forget(s.fixed.ID)
	}
	before, counts := s.Budget()
	noteFiles := func(*Turn) {}
	if task.Files {
		noteFiles = s.compareFiles(ctx)
	}
	turn, err := s.turn(ctx, task.Text)
	if fetchErr := s.fetchFiles(context.WithoutCancel(ctx)); fetchErr != nil { // the answer counts nevertheless
		s.notice(true, "the files that the agent has written in this task are not on this machine yet: "+describe(fetchErr))
	}
	if after, _ := s.Budget(); counts {
		turn.Used = after.Used.since(before.Used)
	}
	noteFiles(&turn)
	return turn, err
}

// watchTime ends a turn when the session's budget of time is used up. The person can raise the budget
// during the turn.
func (s *Session) watchTime(ctx context.Context, end context.CancelCauseFunc) {
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	if account == nil {
		return
	}
	for {
		left, limited := account.TimeLeft()
		if !limited {
			return
		}
		if left <= 0 {
			end(&cutShort{TurnOverBudget, errOutOfTime.Error()})
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *Session) turn(ctx context.Context, task string) (Turn, error) {
	s.mu.Lock()
	container, contained := s.program.(interface{ ID() string })
	process, inProcess := s.program.(*taskProcess)
	host, reason, user := s.host, s.reason, s.inside
	s.spent = false
	s.mu.Unlock()
	switch {
	case !s.idle:
		return Turn{}, errors.New("give a task: the session's agent runs on a terminal")
	case !contained && !inProcess || reason != "":
		return Turn{}, fmt.Errorf("give a task: the session has ended: %s", reason)
	}
	s.keepTask(task)
	began := time.Now()
	if inProcess {
		out, code, err := process.run(ctx, task)
		if err != nil {
			return Turn{}, fmt.Errorf("give a task: %w", err)
		}
		return s.turnOf(s.adapter.AnswerOf(out, "", code), began), nil
	}
	host.Resume = s.adapter.Conversation(s.layout.Home(), host.Conversation).Begun
	launch, err := s.adapter.Once(host, task)
	if err != nil {
		return Turn{}, fmt.Errorf("give a task: %w", err)
	}
	client, err := s.deps.Engine(ctx)
	if err != nil {
		return Turn{}, err
	}
	argv := append([]string{"setsid", "-w", "sh", "-c", `echo $$ >"$0" && exec "$@"`, turnFile}, launch.Argv...)
	out, stderr, code, err := client.Exec(ctx, container.ID(), argv, user.String())
	if err != nil {
		s.stopTurn(client, container.ID(), user)
		if s.adapter.Answer != nil {
			out = "" // Answer needs the complete output
		}
		return Turn{Text: out}, fmt.Errorf("give a task: %w", err)
	}
	return s.turnOf(s.adapter.AnswerOf(out, stderr, code), began), nil
}

func (s *Session) turnOf(answer agent.Answer, began time.Time) Turn {
	return Turn{Text: answer.Text, Failure: answer.Failure, Events: json.RawMessage(answer.Events), End: s.turnEnd(answer), TookMs: time.Since(began).Milliseconds()}
}

// turnEnd returns how a turn ended that was not ended early.
func (s *Session) turnEnd(a agent.Answer) TurnEnd {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.spent:
		return TurnOverBudget
	case a.Failure != "":
		return TurnFailed
	}
	return TurnAnswered
}

// keepTask stores the task in the session's record, because few agents store tasks that they got
// without a terminal.
func (s *Session) keepTask(task string) {
	s.mu.Lock()
	s.task = agent.PromptLine(task)
	s.mu.Unlock()
	if err := s.save(); err != nil {
		s.deps.Log.Warn("store the task in the session record", "session", s.fixed.ID, "error", err)
	}
}

// lastTask returns the session's latest task, shortened, or "".
func (s *Session) lastTask() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task
}

// stopTurn kills the processes of a turn whose caller has stopped waiting.
func (s *Session) stopTurn(client *docker.Client, container string, user inside) {
	ctx, cancel := context.WithTimeout(s.deps.Context, 5*time.Second)
	defer cancel()
	_, stderr, code, err := client.Exec(ctx, container, []string{"sh", "-c", `kill -s KILL -- "-$(cat "$0")"`, turnFile}, user.String())
	if err != nil || code != 0 {
		s.deps.Log.Warn("kill the processes of a turn", "session", s.fixed.ID, "error", err, "code", code, "stderr", stderr)
	}
}

// launch returns how to start the session's agent. An idle session starts idleCommand instead, and the
// agent for each task.
func (s *Session) launch(h agent.Host) (agent.Launch, error) {
	s.mu.Lock()
	s.host = h
	s.mu.Unlock()
	if !s.idle {
		return s.adapter.Launch(h)
	}
	launch, err := s.adapter.Once(h, "")
	launch.Argv = idleCommand
	return launch, err
}

// transcriptLine is one turn in a session's transcript.
type transcriptLine struct {
	Time    time.Time `json:"time"` // when the task was given
	Prompt  string    `json:"prompt"`
	Typed   bool      `json:"typed"` // a person typed at least a part of Prompt for this session
	Text    string    `json:"text"`  // the agent's answer, which is not to be trusted
	Failure string    `json:"failure,omitempty"`
	End     TurnEnd   `json:"end"`
	TookMs  int64     `json:"tookMs"`
	Used    *Usage    `json:"used,omitempty"`
}

// Limits of a transcript, in bytes.
const (
	transcriptText  = 64 << 10 // of each text
	transcriptQuota = 64 << 20 // of the file
)

// keepTurn appends a turn to the transcript. If that fails, it tells the person.
func (s *Session) keepTurn(task Task, began time.Time, t Turn, failed error) {
	s.mu.Lock()
	ran := s.program != nil
	s.mu.Unlock()
	if !ran {
		return // another process may own the session's directory
	}
	if failed != nil {
		t.End, t.Failure = TurnInterrupted, describe(failed)
	}
	redact := audit.NewRedactor(s.deps.Config.Secrets)
	keep := func(s string) string { return text.Clip(redact.Text(s), transcriptText) }
	line, err := json.Marshal(transcriptLine{
		Time: began.UTC(), Prompt: keep(task.Text), Typed: len(task.Spans) > 0, Text: keep(t.Text), Failure: keep(t.Failure),
		End: t.End, TookMs: t.TookMs, Used: t.Used,
	})
	if err == nil {
		err = appendLine(s.layout.Turns(), line)
	}
	if err != nil {
		s.notice(true, fmt.Sprintf("the turn is not in the transcript: %s", describe(err)))
	}
}

// appendLine appends a line to a transcript. It fails if the file would exceed transcriptQuota.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size()+int64(len(line)) >= transcriptQuota {
		err = fmt.Errorf("the transcript has reached %d MiB", transcriptQuota>>20)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}
