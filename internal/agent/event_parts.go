package agent

import "encoding/json"

// PermissionAsk is a permission that an agent asks for. Title may be empty and Call unknown: it is asked all the same.
type PermissionAsk struct {
	ID      string             `json:"id"`
	Call    ToolCall           `json:"call"`
	Options []PermissionOption `json:"options"`
}

// PermissionOption is one of the answers offered. Kinds may repeat.
type PermissionOption struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once, reject_always
}

// PermissionAnswer is the choice. An empty option, or one that was not offered, rejects.
type PermissionAnswer struct {
	Option    string `json:"option,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
}

// PermissionEvent is an ask, and the same ask again with its answer.
type PermissionEvent struct {
	Ask    PermissionAsk     `json:"ask"`
	Answer *PermissionAnswer `json:"answer,omitempty"`
}

// Usage counts model use. Cost is in millionths of a US dollar; nil means unknown, which is not zero.
type Usage struct {
	Calls      int64  `json:"calls,omitempty"`
	Input      int64  `json:"input,omitempty"`
	Output     int64  `json:"output,omitempty"`
	CacheRead  int64  `json:"cache_read,omitempty"`
	CacheWrite int64  `json:"cache_write,omitempty"`
	Cost       *int64 `json:"cost,omitempty"`
}

// UsageEvent is one recorded model call or usage report: what it adds, and the sum of the execution, which never falls.
type UsageEvent struct {
	Model string          `json:"model,omitempty"`
	Delta Usage           `json:"delta"`
	Total Usage           `json:"total"`
	Raw   json.RawMessage `json:"raw,omitempty"`
}

// Add returns the sum. A cost is known when one of the two is.
func (u Usage) Add(v Usage) Usage {
	out := Usage{
		Calls: u.Calls + v.Calls, Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
	}
	if u.Cost != nil || v.Cost != nil {
		sum := deref(u.Cost) + deref(v.Cost)
		out.Cost = &sum
	}
	return out
}

// Over returns what a cumulative report adds to the sum so far. A number that fell adds nothing.
func (u Usage) Over(before Usage) Usage {
	out := Usage{
		Calls: max(0, u.Calls-before.Calls), Input: max(0, u.Input-before.Input), Output: max(0, u.Output-before.Output),
		CacheRead: max(0, u.CacheRead-before.CacheRead), CacheWrite: max(0, u.CacheWrite-before.CacheWrite),
	}
	if u.Cost != nil {
		more := max(0, *u.Cost-deref(before.Cost))
		out.Cost = &more
	}
	return out
}

// floor makes a delta that cannot lower a sum.
func (u Usage) floor() Usage { return u.Over(Usage{}) }

func deref(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}
