package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Meter is what a budget measures.
type Meter string

// The meters; beside each its unit.
const (
	MeterMoney  Meter = "money"  // millionths of a US dollar
	MeterTokens Meter = "tokens" // tokens in and out
	MeterRuns   Meter = "runs"   // claims and direct launches
	MeterWall   Meter = "wall"   // milliseconds in which runs were live; parked time does not count
)

// Spend is what was spent, on all meters at once. The zero Spend is nothing.
type Spend struct {
	Money    int64 // of the calls whose price is known
	Unpriced int64 // model calls whose price is unknown
	Tokens   int64
	Runs     int64
	Wall     int64
}

// PricedCall is the spending of one model call with a known price.
func PricedCall(money, tokens int64) Spend { return Spend{Money: money, Tokens: tokens} }

// UnpricedCall is the spending of one model call without one: its tokens count, and it is never taken for free.
func UnpricedCall(tokens int64) Spend { return Spend{Unpriced: 1, Tokens: tokens} }

// WallTime is the spending of a span in which a run was live.
func WallTime(d time.Duration) Spend { return Spend{Wall: d.Milliseconds()} }

// Add returns the sum. Spending never falls: parts below zero count as zero, and a sum too large stays the largest.
func (s Spend) Add(o Spend) Spend {
	return Spend{
		Money: plus(s.Money, o.Money), Unpriced: plus(s.Unpriced, o.Unpriced), Tokens: plus(s.Tokens, o.Tokens), Runs: plus(s.Runs, o.Runs),
		Wall: plus(s.Wall, o.Wall),
	}
}

func plus(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Of returns the amount on one meter, in its unit. An unknown meter measures nothing.
func (s Spend) Of(m Meter) int64 {
	switch m {
	case MeterMoney:
		return s.Money
	case MeterTokens:
		return s.Tokens
	case MeterRuns:
		return s.Runs
	case MeterWall:
		return s.Wall
	}
	return 0
}

// Text says the amount on a meter for people. Calls without a price are named, never counted as nothing.
func (s Spend) Text(m Meter) string {
	if m != MeterMoney || s.Unpriced == 0 {
		return AmountText(m, s.Of(m))
	}
	calls := strconv.FormatInt(s.Unpriced, 10) + " unpriced call"
	if s.Unpriced > 1 {
		calls += "s"
	}
	if s.Money == 0 {
		return calls
	}
	return AmountText(m, s.Money) + " + " + calls
}

// AmountText says an amount of a meter for people: "$12.30", "1500 tokens", "3 runs", "1h30m0s".
func AmountText(m Meter, n int64) string {
	switch m {
	case MeterMoney:
		// Parts of a cent are shown only where there would be nothing else to see.
		if n > 0 && n < 10_000 {
			return fmt.Sprintf("$0.%06d", n)
		}
		return fmt.Sprintf("$%d.%02d", n/1_000_000, n%1_000_000/10_000)
	case MeterWall:
		if n <= math.MaxInt64/int64(time.Millisecond) {
			return (time.Duration(n) * time.Millisecond).String()
		}
		return strconv.FormatInt(n, 10) + " ms"
	case MeterTokens, MeterRuns:
	}
	unit := string(m)
	if n == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strconv.FormatInt(n, 10) + " " + unit
}

// ParseAmount reads an amount as people write it: money as 12, 12.50 or $12.50, wall time as 90m or 3h, tokens and runs
// as whole numbers. It is above zero.
func ParseAmount(m Meter, text string) (int64, error) {
	var n int64
	ok := false
	switch m {
	case MeterMoney:
		n, ok = dollars(strings.TrimPrefix(text, "$"))
	case MeterWall:
		d, err := time.ParseDuration(text)
		n, ok = d.Milliseconds(), err == nil
	case MeterTokens, MeterRuns:
		whole, err := strconv.ParseInt(text, 10, 64)
		n, ok = whole, err == nil
	}
	if !ok || n < 1 {
		return 0, badBudget("limit", "the amount cannot be read",
			"write money as 12.50, tokens and runs as whole numbers, wall time as 3h; it is above zero")
	}
	return n, nil
}

// dollars reads an amount with at most six digits behind the point as millionths, without rounding.
func dollars(s string) (int64, bool) {
	whole, part, _ := strings.Cut(s, ".")
	if len(part) > 6 || len(whole) > 12 || strings.Trim(whole+part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	return n, err == nil && whole != ""
}
