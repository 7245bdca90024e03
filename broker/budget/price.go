package budget

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

//go:embed prices.json
var builtIn []byte

// Price is what tokens of a model cost, in US dollars per million tokens.
type Price struct {
	In         float64 `json:"in"`
	Out        float64 `json:"out"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Fast       float64 `json:"fast"` // how many times as much a request served ahead of others costs; 0 is usualFast
	Long       *Long   `json:"long"` // what long requests cost; nil for no more than others
}

// Long is the factor on the price of a request with more than Above input tokens, including
// cached ones.
type Long struct {
	Above int64   `json:"above"`
	In    float64 `json:"in"` // cached tokens, too
	Out   float64 `json:"out"`
}

const (
	// usualFast is the usual factor on the price of models that are served with priority.
	usualFast = 2
	// hourly is the factor on the price of input tokens that are kept in the provider's
	// cache for an hour.
	hourly = 2
)

// ModelPrice is the price of the models whose names contain Match.
type ModelPrice struct {
	Match string `json:"match"`
	Price
}

// Prices is a price table.
type Prices struct {
	Date     string       `json:"date"` // of the last look at the providers' lists, year-month-day
	Fallback Price        `json:"fallback"`
	Models   []ModelPrice `json:"models"` // the longest match counts, of equals the first
}

// BuiltInPrices returns the table inside the program with the given entries before it. An
// entry that matches a model as closely as a built-in one replaces that one.
func BuiltInPrices(own ...ModelPrice) (Prices, error) {
	var p Prices
	if err := json.Unmarshal(builtIn, &p); err != nil {
		return Prices{}, fmt.Errorf("read the built-in prices: %w", err)
	}
	p.Models = append(append([]ModelPrice(nil), own...), p.Models...)
	return p, nil
}

// Of returns the price of a model, and whether the table knows the model.
func (p Prices) Of(model string) (Price, bool) {
	best, found := p.Fallback, ""
	model = spelling(model)
	for _, m := range p.Models {
		if len(m.Match) > len(found) && matches(model, spelling(m.Match)) {
			best, found = m.Price, m.Match
		}
	}
	return best, found != ""
}

// spelling normalizes a name for comparison, because some write the versions of Claude with
// dots.
func spelling(model string) string {
	model = strings.ToLower(model)
	if strings.Contains(model, "claude") {
		model = strings.ReplaceAll(model, ".", "-")
	}
	return model
}

// matches reports whether a name contains a part. A version at the end of the part must not
// be the beginning of a longer one: gpt-5 does not match gpt-5.7, whose price differs.
func matches(name, part string) bool {
	for {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		rest := name[at+len(part):]
		if !endsInDigit(part) || !beginsWithDigit(strings.TrimPrefix(rest, ".")) {
			return true
		}
		name = name[at+1:]
	}
}

func endsInDigit(s string) bool { return s != "" && beginsWithDigit(s[len(s)-1:]) }

func beginsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// most returns the cost of a count with the most expensive of the models, or with an unknown
// model when there are none.
func (p Prices) most(c usage.Count, models []string) Cost {
	if len(models) == 0 {
		return p.Fallback.Cost(c)
	}
	var most Cost
	for _, model := range models {
		price, _ := p.Of(model)
		most = max(most, price.Cost(c))
	}
	return most
}

// charge returns the cost of a request, and whether it is more than a guess. The provider's
// figure counts, unless the table gives a higher one.
func (p Prices) charge(model string, c usage.Count) (Cost, bool) {
	price, known := p.Of(model)
	cost := price.Cost(c)
	if c.Billed <= 0 {
		return cost, known
	}
	billed := USD(c.Billed)
	if known {
		return max(cost, billed), true
	}
	return billed, true
}

// Cost is an amount of money in billionths of a US dollar, so that sums are
// exact.
type Cost int64

// mostCost is more than a request can cost, and so small that a sum of several is still a Cost.
const mostCost = 1e17

// USD converts US dollars to a Cost.
func USD(amount float64) Cost { return Cost(math.Round(amount * 1e9)) }

// USD is the amount in US dollars.
func (c Cost) USD() float64 { return float64(c) / 1e9 }

// Cost is what a count costs at this price.
func (p Price) Cost(c usage.Count) Cost {
	const perToken = 1e9 / 1e6 // billionths of a dollar, of dollars per million
	kept := float64(min(c.CacheHour, c.CacheWrite))
	in := p.In*float64(c.In) + p.CacheRead*float64(c.CacheRead) + p.CacheWrite*float64(c.CacheWrite) +
		max(0, hourly*p.In-p.CacheWrite)*kept
	out := p.Out * float64(c.Out)
	if l := p.Long; l != nil && c.In+c.CacheRead+c.CacheWrite > l.Above {
		in, out = in*l.In, out*l.Out
	}
	sum := in + out
	if c.Fast {
		sum *= cmp.Or(p.Fast, usualFast)
	}
	return Cost(math.Round(min(mostCost, perToken*sum)))
}
