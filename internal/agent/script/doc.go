// Package script is the scripted agent: it plays a script instead of asking a model. The demo and the tests use it
// through the same port, the same tools and the same records as a model would.
//
// It guarantees that the same script and the same prompts give the same turns, also when the server is killed in the
// middle of one: what a turn will do is in the transcript before the first step, each step's result as soon as it is
// there, and a turn that was cut goes on behind the last of them.
//
// A script is a list of rules, the first that matches a prompt wins, none is a failure of class configuration:
//
//	script:
//	  - when: {prompt: 'fix (\w+)', role: primary, nth: 1}
//	    do:
//	      - say: "I look at ${1}"
//	      - tool: {name: shell, args: {command: "grep -r ${1} ."}}
//	      - say: "It said: ${result}"
//
// prompt is a regular expression (RE2) searched in the prompt's text; without it a rule matches every prompt. role is
// the role of the turn. nth lets a rule match only the nth prompt of the session that its prompt and role match,
// counted over the prompts in the session's transcript; so the count survives restarts, and a turn that is continued
// counts once. In texts and arguments ${1} and ${name} stand for groups of the expression and ${result} for the last
// tool's result; any other ${…} stays as it is.
//
// It must not know tasks or workflows, nor which tools there are.
package script
