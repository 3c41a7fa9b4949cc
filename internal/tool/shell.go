package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/workspace"
)

// maxStream is how much a shell may write before its tree is killed: far more than is kept, far less than a disk.
const maxStream = 256 << 20

func (b *Box) shell() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "shell", Effect: agent.EffectOnce, Touches: []string{agent.TouchFiles, agent.TouchProcess, agent.TouchNetwork},
			Description: "Runs a shell command in the workspace and returns its output and exit code. Standard input is empty. " +
				"Everything the command started ends with it.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"command":{"type":"string","minLength":1},
				"timeout_seconds":{"type":"integer","minimum":1,"description":"at most what the profile allows, default that"}},
				"required":["command"],"additionalProperties":false}`),
		},
		run: func(ctx context.Context, call agent.Call) agent.Result {
			in, bad := args[struct {
				Command string
				Timeout int `json:"timeout_seconds"`
			}](call)
			if bad != nil {
				return *bad
			}
			bound := b.opts.Shell
			if d := time.Duration(in.Timeout) * time.Second; d > 0 && d < bound {
				bound = d
			}
			return b.execute(ctx, call, in.Command, bound)
		},
	}
}

// execute runs a command to its end or its deadline; either way its tree is dead when it returns.
func (b *Box) execute(ctx context.Context, call agent.Call, command string, bound time.Duration) agent.Result {
	out := workspace.NewCapture(b.opts.Output - 256) // room for the last line
	spec := workspace.Spec{
		Execution: string(call.Execution), Command: []string{interpreter(), "-c", command}, Dir: b.jail.Dir(),
		Env: b.opts.Env, Inherit: b.opts.Inherit, Memory: b.opts.Memory, Writable: b.opts.Writable, OutputLimit: maxStream,
		Stdin: strings.NewReader(""), Stdout: out, Merge: true,
	}
	if spec.Execution == "" {
		spec.Execution = "none"
	}
	if b.opts.Deadline != nil {
		spec.Deadline = b.opts.Deadline()
	}
	began := time.Now()
	p, err := b.launch.Start(ctx, spec)
	if err != nil {
		var f *fairlead.Failure
		if ctx.Err() == nil && errors.As(err, &f) {
			return agent.Result{Outcome: agent.OutcomeError, Text: f.Message}
		}
		return agent.Result{Outcome: agent.OutcomeCancelled, Text: "the turn was stopped before the command ran"}
	}
	limit, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	x, err := p.Wait(limit)
	var late bool
	if limit.Err() != nil && err != nil {
		late = ctx.Err() == nil
		x, err = p.Stop(context.WithoutCancel(ctx), workspace.StopPlan{Term: 500 * time.Millisecond})
	}
	r := verdict(x, out.String())
	r.Facts["seconds"] = strconv.FormatFloat(time.Since(began).Seconds(), 'f', 3, 64)
	if p.Confined {
		r.Facts["sandbox"] = "landlock"
	}
	r.Facts["bytes"] = strconv.FormatInt(out.Total(), 10)
	switch {
	case err != nil && limit.Err() == nil:
		r.Outcome, r.Text = agent.OutcomeError, r.Text+"\n[some of its processes cannot be killed]"
	case late:
		r.Outcome, r.Text = agent.OutcomeTimeout, out.String()+fmt.Sprintf("\n[killed after %v]", bound)
	case ctx.Err() != nil:
		r.Outcome = agent.OutcomeCancelled
	}
	return r
}

// verdict reads how a command ended.
func verdict(x workspace.Exit, output string) agent.Result {
	r := agent.Result{Outcome: agent.OutcomeOK, Facts: map[string]string{"exit_code": strconv.Itoa(x.Code), "cause": string(x.Cause)}}
	last := fmt.Sprintf("[exit code %d]", x.Code)
	if x.Code != 0 {
		r.Outcome = agent.OutcomeError
	}
	switch x.Cause {
	case workspace.CauseMemory:
		last = "[killed: it used more memory than it may]"
	case workspace.CauseOutput:
		last = fmt.Sprintf("[killed: it wrote more than %d bytes]", maxStream)
	case workspace.CauseDeadline, workspace.CauseLost, workspace.CauseKilled:
		last = "[killed from outside]"
	default:
		if x.Signal != "" {
			last = "[ended by " + x.Signal + "]"
			r.Facts["signal"] = x.Signal
		}
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	r.Text = output + last
	return r
}

// interpreter prefers bash, whose dialect models write.
func interpreter() string {
	if path, err := exec.LookPath("bash"); err == nil {
		return path
	}
	return "/bin/sh"
}
