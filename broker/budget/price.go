package budget

import (
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
}

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

// BuiltInPrices is the table inside the program, with entries put before it: an
// entry that matches a model as closely as a built-in one takes its place.
func BuiltInPrices(own ...ModelPrice) (Prices, error) {
	var p Prices
	if err := json.Unmarshal(builtIn, &p); err != nil {
		return Prices{}, fmt.Errorf("read the built-in prices: %w", err)
	}
	p.Models = append(append([]ModelPrice(nil), own...), p.Models...)
	return p, nil
}

// Of is the price of a model, and whether the table knows the model.
func (p Prices) Of(model string) (Price, bool) {
	best, found := p.Fallback, ""
	model = strings.ToLower(model)
	for _, m := range p.Models {
		if len(m.Match) > len(found) && strings.Contains(model, strings.ToLower(m.Match)) {
			best, found = m.Price, m.Match
		}
	}
	return best, found != ""
}

// most is what a count costs with the dearest of the models, or of one that is not
// known when there is none.
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

// Cost is an amount of money in billionths of a US dollar, so that sums are
// exact.
type Cost int64

// mostCost is more than a request can cost; sums of it are still a Cost.
const mostCost = 1e17

// costs converts US dollars to a Cost.
func costs(usd float64) Cost { return Cost(math.Round(usd * 1e9)) }

// USD is the amount in US dollars.
func (c Cost) USD() float64 { return float64(c) / 1e9 }

// Cost is what a count costs at this price.
func (p Price) Cost(c usage.Count) Cost {
	const perToken = 1e9 / 1e6 // billionths of a dollar, of dollars per million
	return Cost(math.Round(min(mostCost, perToken*(p.In*float64(c.In)+p.Out*float64(c.Out)+
		p.CacheRead*float64(c.CacheRead)+p.CacheWrite*float64(c.CacheWrite)))))
}
