package worker

import (
	"encoding/json"

	"github.com/fairlead/fairlead/internal/agent"
)

// The tools of the board. Their names are a contract: agents' instructions name them.
const (
	toolComplete = "step_complete_fairlead"
	toolDecide   = "record_decision_fairlead"
	toolAsk      = "ask_person_fairlead"
	toolComment  = "comment_fairlead"
	toolMove     = "move_task_fairlead"
	toolCreate   = "create_task_fairlead"
	toolGet      = "get_task_fairlead"
)

// boardSpecs describes the tools to a model. All but reading are safe to repeat, because a call's operation id comes
// from its own id.
func boardSpecs() []agent.ToolSpec {
	return []agent.ToolSpec{
		boardSpec(toolComplete, "Say that your work at this step is complete. The task moves on when your turn ends.",
			`{"type":"object","properties":{"summary":{"type":"string","description":"what was done, in a few sentences"}},"additionalProperties":false}`),
		boardSpec(toolDecide, "Give the verdict of your seat: approve, reject or comment. A rejection needs a note that says what to change.",
			`{"type":"object","properties":{"verdict":{"enum":["approve","reject","comment"]},"note":{"type":"string"},"role":{"enum":["reviewer","approver"]}},
			"required":["verdict"],"additionalProperties":false}`),
		parking(boardSpec(toolAsk, "Ask a person one to four questions and end your turn. The answer comes as your next prompt.",
			`{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"object","properties":{
			"prompt":{"type":"string","minLength":1},"kind":{"enum":["question","choice","form"]},"options":{"type":"array","items":{"type":"object",
			"properties":{"id":{"type":"string"},"label":{"type":"string"}},"required":["id","label"],"additionalProperties":false}},
			"schema":{"type":"object"},"of":{"type":"array","items":{"type":"string","pattern":"^person:"}}},
			"required":["prompt"],"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}`)),
		boardSpec(toolComment, "Write a comment on your task, or on a child of it.",
			`{"type":"object","properties":{"text":{"type":"string","minLength":1},"task":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		boardSpec(toolMove, "Move a task to another step. The move of your own task is decided when your turn ends.",
			`{"type":"object","properties":{"step":{"type":"string"},"task":{"type":"string"},"note":{"type":"string","description":"what the next step should know"}},
			"required":["step"],"additionalProperties":false}`),
		boardSpec(toolCreate, "Create a child task of your task.",
			`{"type":"object","properties":{"title":{"type":"string","minLength":1},"description":{"type":"string"},"workflow":{"type":"string"},
			"agent":{"type":"string"},"priority":{"enum":["urgent","high","medium","low"]},"labels":{"type":"array","items":{"type":"string"}},
			"requirements":{"type":"array","items":{"type":"string"}}},"required":["title"],"additionalProperties":false}`),
		reading(boardSpec(toolGet, "Read a task: your own when none is named.",
			`{"type":"object","properties":{"task":{"type":"string"}},"additionalProperties":false}`)),
	}
}

func boardSpec(name, description, schema string) agent.ToolSpec {
	return agent.ToolSpec{
		Name: name, Description: description, Schema: json.RawMessage(schema), Effect: agent.EffectIdempotent, Touches: []string{agent.TouchBoard},
	}
}

func parking(s agent.ToolSpec) agent.ToolSpec {
	s.Parks = true
	s.Touches = []string{agent.TouchPerson}
	return s
}

func reading(s agent.ToolSpec) agent.ToolSpec {
	s.Effect = agent.EffectRead
	return s
}
