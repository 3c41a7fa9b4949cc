package fairlead

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"regexp"
	"strings"
	"time"
)

// OpID names one attempt to change something. The same id sent again by the same actor returns the first result.
type OpID string

// Seed is the random 128 bits stored with an operation; every id a plan needs is derived from it, so that a plan can
// be made again bit by bit.
type Seed [16]byte

// sortable is base32 whose text order is the order of the bytes.
var sortable = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID derives the ordinal-th id of a seed: prefix, "_", 26 characters that start with the time, so that ids made
// later sort later (to the millisecond) and indexes stay dense.
func NewID(prefix string, at time.Time, seed Seed, ordinal int) string {
	var in [24]byte
	copy(in[:16], seed[:])
	binary.BigEndian.PutUint64(in[16:], uint64(ordinal))
	sum := sha256.Sum256(append([]byte(prefix), in[:]...))
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(at.UnixMilli())<<16)
	copy(raw[6:], sum[:10])
	return prefix + "_" + sortable.EncodeToString(raw[:])
}

// Prefixes of ids, one a noun.
const (
	PrefixTask        = "tsk"
	PrefixRun         = "run"
	PrefixAssignment  = "asg"
	PrefixSeat        = "sea"
	PrefixParticipant = "par"
	PrefixDecision    = "dec"
	PrefixRequest     = "req"
	PrefixComment     = "com"
	PrefixSession     = "ses"
	PrefixExecution   = "exe"
	PrefixNotice      = "not"
	PrefixTimer       = "tmr"
	PrefixHold        = "hld"
	PrefixToken       = "tok"
	PrefixNode        = "nod"
	PrefixAudit       = "aud"
	PrefixOp          = "op"
)

// DerivedOp makes the operation id of something that an earlier fact causes: the same fact always gives the same id.
func DerivedOp(parts ...string) OpID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return OpID("d_" + sortable.EncodeToString(sum[:16]))
}

var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// ValidKey reports whether s may name a workspace, workflow, step, agent, person, duty or label project.
func ValidKey(s string) bool { return keyPattern.MatchString(s) }

// CheckKey is ValidKey with the error that says what is allowed; what is the noun ("agent key").
func CheckKey(what, s string) error {
	if ValidKey(s) {
		return nil
	}
	return Errorf(CodeInvalid, "%s is not a valid name", what).
		WithHint("use a lower-case letter, then at most 62 of a-z, 0-9, - and _")
}
