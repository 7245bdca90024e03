package budget_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// book is an account with its clock and what it said.
type book struct {
	*budget.Account
	mu   sync.Mutex
	at   time.Time
	said []string
	id   uint64 // of the last request
}

// admit asks for one more request, of which nobody knows what it may cost.
func (b *book) admit() error {
	b.mu.Lock()
	b.id++
	id := b.id
	b.mu.Unlock()
	return b.Admit(id, usage.Count{})
}

func (b *book) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

func (b *book) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

func (b *book) warn(w budget.Warning) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, string(w.Kind)+": "+w.Text)
}

func open(t *testing.T, path string, limits budget.Limits, ledger *budget.Ledger) *book {
	t.Helper()
	prices, err := budget.BuiltInPrices()
	if err != nil {
		t.Fatal(err)
	}
	b := &book{at: time.Unix(1_700_000_000, 0)}
	b.Account, err = budget.Open(budget.Options{Path: path, Limits: limits, Prices: prices, Ledger: ledger, Warn: b.warn, Now: b.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestEachLimitStopsAndCanBeRaised(t *testing.T) {
	use := func(b *book) { b.Settle(0, "claude-sonnet-4-5", usage.Count{In: 100_000, Out: 10_000}) } // $0.45
	for name, test := range map[string]struct {
		limits budget.Limits
		spend  func(*book)
		raise  string
	}{
		"cost":     {budget.Limits{Cost: budget.USD(0.45)}, use, "+5"},
		"tokens":   {budget.Limits{Tokens: 110_000}, use, "+100k tokens"},
		"requests": {budget.Limits{Requests: 1}, func(b *book) { _ = b.admit() }, "+50 requests"},
		"time":     {budget.Limits{Time: time.Hour}, func(b *book) { b.pass(time.Hour) }, "+30m"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "budget.json"), test.limits, nil)
			if err := b.admit(); err != nil && name != "requests" {
				t.Fatalf("refused at once: %v", err)
			}
			test.spend(b)
			for range 2 {
				if err := b.admit(); err == nil || !strings.Contains(err.Error(), "/budget "+test.raise) {
					t.Fatalf("a spent budget says %v, want it to name %s", err, test.raise)
				}
			}
			if len(b.said) != 1 || !strings.HasPrefix(b.said[0], "spent: ") || !strings.Contains(b.said[0], "stopped") {
				t.Fatalf("the person was told %q, want one line", b.said)
			}
			by, err := budget.ParseRaise(test.raise)
			if err != nil {
				t.Fatal(err)
			}
			if b.Raise(by); b.admit() != nil {
				t.Fatal("raised, and still refused")
			}
		})
	}
}

func TestWarnsOnceAtFourFifths(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "budget.json"), budget.Limits{Tokens: 1000}, nil)
	for range 9 {
		b.Settle(0, "claude-sonnet-4-5", usage.Count{In: 100})
	}
	if len(b.said) != 1 || !strings.HasPrefix(b.said[0], "nearly: ") || !strings.Contains(b.said[0], "800 tokens of 1000 tokens") {
		t.Fatalf("said %q", b.said)
	}
	if s := b.Statement(); s.Part != 0.9 || s.Used.Tokens() != 900 {
		t.Fatalf("%+v", s)
	}
}

// What was used, and what a person added, outlives the program; the ledger has
// everything once.
func TestCountsOutliveTheProgram(t *testing.T) {
	dir := t.TempDir()
	path, ledger := filepath.Join(dir, "budget.json"), budget.NewLedger(filepath.Join(dir, "used.json"))
	for range 3 {
		b := open(t, path, budget.Limits{Requests: 2}, ledger)
		b.Raise(budget.Limits{Requests: 1})
		if err := b.admit(); err != nil {
			t.Fatal(err)
		}
		b.Settle(0, "no-such-model", usage.Count{In: 1000, Out: 10, CacheRead: 5, CacheWrite: 1})
		b.pass(time.Minute)
		b.Close()
	}
	b := open(t, path, budget.Limits{Requests: 2}, ledger)
	s := b.Statement()
	if s.Used.Requests != 3 || s.Limits.Requests != 5 || s.Used.Time != 3*time.Minute || s.Used.In != 3000 {
		t.Fatalf("%+v", s)
	}
	if s.Used.Guessed != s.Used.Cost || s.Used.Cost == 0 {
		t.Fatalf("an unknown model's cost is %v, guessed %v", s.Used.Cost, s.Used.Guessed)
	}
	total, err := ledger.Total()
	if err != nil || total.In != 3000 || total.Requests != 3 || total.Cost != s.Used.Cost {
		t.Fatalf("the ledger has %+v, %v", total, err)
	}
}

func TestAccountsShareALedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "used.json")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			b := open(t, filepath.Join(dir, string(rune('a'+i))), budget.Limits{}, budget.NewLedger(path)) // a ledger each, as programs have
			for range 10 {
				b.Settle(0, "claude-opus-4-5", usage.Count{In: 1})
			}
			b.Close()
		})
	}
	all.Wait()
	if total, err := budget.NewLedger(path).Total(); err != nil || total.In != 40 {
		t.Fatalf("%+v, %v", total, err)
	}
}

func TestBrokenFileIsNotForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	if err := os.WriteFile(path, []byte(`{"used":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := budget.Open(budget.Options{Path: path}); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v", err)
	}
}

func TestUnwritableFileIsSaidOnce(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "no", "budget.json"), budget.Limits{}, nil)
	b.Settle(0, "gpt-5", usage.Count{In: 1})
	b.Close()
	if len(b.said) != 1 || !strings.Contains(b.said[0], "could not be stored") {
		t.Fatalf("said %q", b.said)
	}
}

func TestPrices(t *testing.T) {
	own := budget.ModelPrice{Match: "gpt-5", Price: budget.Price{In: 7}}
	prices, err := budget.BuiltInPrices(own)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.DateOnly, prices.Date); err != nil {
		t.Error(err)
	}
	for model, want := range map[string]struct {
		in    float64
		known bool
	}{
		"claude-opus-4-5-20251101":           {5, true},
		"claude-opus-4-1":                    {15, true},
		"anthropic/claude-haiku-4.5":         {1, true},
		"anthropic/claude-opus-4.8":          {5, true},
		"claude-opus-5-5":                    {4, true},
		"gpt-5.5-2026-04-23":                 {5, true},
		"gpt-5-pro-2025-10-06":               {15, true},
		"openai/gpt-5.7":                     {5, false}, // no longer version has the price of a shorter one
		"gpt-50":                             {5, false},
		"gpt-5.7 or gpt-5":                   {7, true},
		"us.anthropic.claude-haiku-4-5-v1:0": {1, true},
		"GPT-5-mini-2025-08-07":              {0.25, true},
		"gpt-5":                              {7, true}, // one's own
		"models/gemini-2.5-flash-lite":       {0.1, true},
		"":                                   {5, false},
	} {
		t.Run(model, func(t *testing.T) {
			if got, known := prices.Of(model); got.In != want.in || known != want.known {
				t.Errorf("%q costs %v, known %t; want %v, %t", model, got.In, known, want.in, want.known)
			}
		})
	}
	if got := (budget.Price{In: 1e6, Out: 1e6}).Cost(usage.Count{In: 1e12, Out: 1e12}); got != 1e17 {
		t.Errorf("an absurd count costs %d", got)
	}
	for name, c := range map[string]struct {
		count usage.Count
		want  budget.Cost // in millionths of a dollar
	}{
		"short":           {usage.Count{In: 60, CacheRead: 40, Out: 10}, 60*10 + 40*1 + 10*50},
		"long":            {usage.Count{In: 61, CacheRead: 40, Out: 10}, (61*10+40*1)*2 + 10*75},
		"fast":            {usage.Count{In: 60, Out: 10, Fast: true}, 3 * (60*10 + 10*50)},
		"written":         {usage.Count{CacheWrite: 8}, 8 * 12},
		"written to stay": {usage.Count{CacheWrite: 8, CacheHour: 5}, 3*12 + 5*20},
		"more to stay":    {usage.Count{CacheWrite: 8, CacheHour: 500}, 8 * 20},
	} {
		t.Run(name, func(t *testing.T) {
			price := budget.Price{In: 10, Out: 50, CacheRead: 1, CacheWrite: 12, Fast: 3, Long: &budget.Long{Above: 100, In: 2, Out: 1.5}}
			if got := price.Cost(c.count); got != 1000*c.want {
				t.Errorf("%s: it costs %d, want %d", name, got, 1000*c.want)
			}
		})
	}
	if got := (budget.Price{In: 1}).Cost(usage.Count{In: 1, Fast: true}); got != 2000 {
		t.Errorf("fast, of a model without a price for that, it costs %d", got)
	}
	if got := (budget.Price{In: 0.3, Out: 2.5}).Cost(usage.Count{In: 3, Out: 1}); got != 3400 {
		t.Errorf("costs %d billionths, want 3400", got)
	}
}

// A provider that says what it takes knows best, unless it says less than its price list.
func TestWhatAProviderBills(t *testing.T) {
	for _, c := range []struct {
		model         string
		billed        float64
		cost, guessed budget.Cost
	}{
		{"no-such-model", 0.25, 250_000_000, 0},
		{"no-such-model", 0, 25_000, 25_000},
		{"claude-opus-5", 0.25, 250_000_000, 0},
		{"claude-opus-5", 1e-9, 25_000, 0},
	} {
		t.Run(c.model, func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "budget.json"), budget.Limits{}, nil)
			b.Settle(0, c.model, usage.Count{Out: 1, Billed: c.billed})
			if s := b.Statement().Used; s.Cost != c.cost || s.Guessed != c.guessed {
				t.Errorf("%s, billed %v: %d, guessed %d", c.model, c.billed, s.Cost, s.Guessed)
			}
		})
	}
}

func TestParseRaise(t *testing.T) {
	for text, want := range map[string]budget.Limits{
		"+5":           {Cost: budget.USD(5)},
		"+$2.50":       {Cost: budget.USD(2.5)},
		"+200k tokens": {Tokens: 200_000},
		"+1 request":   {Requests: 1},
		"+1h30m":       {Time: 90 * time.Minute},
		"+30s":         {Time: 30 * time.Second},
		"+3d":          {Time: 72 * time.Hour},
		"+2 hours":     {Time: 2 * time.Hour},
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := budget.ParseRaise(text); err != nil || got != want {
				t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"", "5", "+", "+0", "-5", "+-5", "+NaN", "+Inf", "+1e9", "+5 euros", "+1.5 tokens", "+99999999999m tokens", "+10000000h", "+0 requests"} {
		t.Run(text, func(t *testing.T) {
			if got, err := budget.ParseRaise(text); err == nil || !strings.Contains(err.Error(), "+30m") {
				t.Errorf("%q is %+v, %v", text, got, err)
			}
		})
	}
}
