package workflow

import (
	"fmt"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/parser"

	"github.com/fairlead/fairlead"
)

// Thresholds of a quorum. n_approve is written with its number, as n_approve:2.
const (
	ThresholdAllApprove      = "all_approve"
	ThresholdAnyReject       = "any_reject"
	ThresholdAllDecide       = "all_decide"
	ThresholdMajorityApprove = "majority_approve"
	ThresholdNApprove        = "n_approve"
)

// maxApprovals bounds N of n_approve: more seats than this is a mistake.
const maxApprovals = 1000

var thresholds = []string{ThresholdAllApprove, ThresholdAnyReject, ThresholdAllDecide, ThresholdMajorityApprove, ThresholdNApprove + ":N"}

// Split returns the threshold's name and N, which is 0 for all but n_approve. A threshold of a compiled definition is
// always well-formed; for any other one the name is "".
func (q QuorumRef) Split() (name string, n int) {
	name, n, err := parseThreshold(q.Threshold)
	if err != nil {
		return "", 0
	}
	return name, n
}

func parseThreshold(s string) (name string, n int, err error) {
	switch s {
	case ThresholdAllApprove, ThresholdAnyReject, ThresholdAllDecide, ThresholdMajorityApprove:
		return s, 0, nil
	}
	number, ok := strings.CutPrefix(s, ThresholdNApprove+":")
	if !ok {
		return "", 0, fmt.Errorf("unknown threshold %q", clip(s))
	}
	n, err = strconv.Atoi(number)
	if err != nil || n < 1 || n > maxApprovals || strconv.Itoa(n) != number {
		return "", 0, fmt.Errorf("n_approve needs a whole number from 1 to %d", maxApprovals)
	}
	return ThresholdNApprove, n, nil
}

// checkQuorum says what is wrong with a quorum, and its remedy.
func checkQuorum(role, threshold string) (message, remedy string) {
	r := fairlead.Role(role)
	if !r.Valid() {
		return fmt.Sprintf("unknown role %q", clip(role)), suggest(role, []string{"reviewer", "approver"})
	}
	if !r.Votes() {
		return fmt.Sprintf("a %s has no vote", role), "name the role reviewer or approver"
	}
	if _, _, err := parseThreshold(threshold); err != nil {
		return err.Error(), suggest(threshold, thresholds)
	}
	return "", ""
}

// quorumMacro turns quorum("role", "threshold") into a field read, so that both must be literals and are checked while
// the expression is parsed.
func quorumMacro(eh parser.ExprHelper, _ ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
	if len(args) != 2 {
		return nil, eh.NewError(0, `quorum takes a role and a threshold, as quorum("reviewer", "all_approve")`)
	}
	words := make([]string, 2)
	for i, a := range args {
		literal, ok := types.String(""), false
		if a.Kind() == ast.LiteralKind {
			literal, ok = a.AsLiteral().(types.String)
		}
		if !ok {
			return nil, eh.NewError(a.ID(), "the arguments of quorum must be literal texts")
		}
		words[i] = string(literal)
	}
	if message, remedy := checkQuorum(words[0], words[1]); message != "" {
		return nil, eh.NewError(args[0].ID(), message+remedyMark+remedy)
	}
	return eh.NewSelect(eh.NewIdent(quorumVariable), words[0]+" "+words[1]), nil
}

// remedyMark separates message and remedy in an error that travels through the expression parser.
const remedyMark = "\x00"

func splitQuorum(field string) QuorumRef {
	role, threshold, _ := strings.Cut(field, " ")
	return QuorumRef{Role: fairlead.Role(role), Threshold: threshold}
}

func quorumField(field string) (factField, bool) {
	q := splitQuorum(field)
	if message, _ := checkQuorum(string(q.Role), q.Threshold); message != "" {
		return factField{}, false
	}
	return factField{cel.BoolType, func(f *Facts) any {
		return f.Quorum != nil && f.Quorum(string(q.Role), q.Threshold)
	}}, true
}
