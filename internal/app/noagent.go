package app

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// noAgent is what the adapter "auto" stands for where no agent is found on the machine: it starts nothing and says what
// to do. It never pretends to work.
type noAgent struct{}

var _ agent.Runtime = noAgent{}

// Launch fails with the remedy. It is no third caller of a launch: nothing is started. See [agent.Runtime].
func (noAgent) Launch(context.Context, agent.LaunchSpec) (agent.ExecutionRef, error) {
	return agent.ExecutionRef{}, &fairlead.Failure{
		Class:   fairlead.ClassConfiguration,
		Message: "no agent is set up for this profile (adapter auto): apply a profile that names one with: fairlead agent apply FILE",
	}
}

func (noAgent) Resume(context.Context, agent.ExecutionID, agent.Prompt) error {
	return unknownExecution()
}

func (noAgent) Stop(context.Context, agent.ExecutionID, agent.StopReason) error {
	return unknownExecution()
}

func (noAgent) SetMCPMode(context.Context, agent.ExecutionID, agent.MCPMode) error {
	return unknownExecution()
}

func (noAgent) GetExecution(context.Context, agent.ExecutionID) (agent.Execution, error) {
	return agent.Execution{}, unknownExecution()
}

func (noAgent) SubscribeEvents(context.Context, agent.ExecutionID, agent.Cursor) (<-chan agent.Event, error) {
	return nil, unknownExecution()
}

func unknownExecution() error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such execution")
}
