package control

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// order is a command of a person or a client that can be sent again.
type order struct {
	meta   Meta
	what   string
	text   string // of a comment
	task   string
	send   func(c *Control, m Meta) (string, error)
	result string
}

// anyOrder gives one command.
func (m *cluster) anyOrder(rt *rapid.T) {
	task := rapid.SampledFrom(m.tasks).Draw(rt, "task")
	ctx := context.Background()
	o := &order{meta: owner(), task: task}
	switch o.what = rapid.SampledFrom([]string{"comment", "comment", "client", "client", "move", "move", "start", "stop", "pause", "resume", "retry"}).Draw(rt, "order"); o.what {
	case "client":
		o.meta = asClient()
		m.comment(o)
	case "comment":
		m.comment(o)
	case "move":
		to := rapid.SampledFrom([]string{"first", "second", "third"}).Draw(rt, "step")
		o.send = func(c *Control, meta Meta) (string, error) {
			v, err := c.Move(ctx, meta, task, fairlead.MoveBody{Step: to})
			return fmt.Sprint(v.Moved, v.Visit, v.Step), err
		}
	case "start":
		o.send = func(c *Control, meta Meta) (string, error) {
			v, err := c.Start(ctx, meta, task, fairlead.StartBody{})
			return fmt.Sprint(v.Run, v.Launched), err
		}
	case "stop":
		o.send = func(c *Control, meta Meta) (string, error) {
			_, err := c.Stop(ctx, meta, task, fairlead.OpBody{})
			return "", err
		}
	case "retry":
		run := m.tired(rt)
		o.send = func(c *Control, meta Meta) (string, error) {
			v, err := c.RetryRun(ctx, meta, run, fairlead.OpBody{})
			return v.ID, err
		}
	default:
		agent, pause := rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "agent"), o.what == "pause"
		o.send = func(c *Control, meta Meta) (string, error) {
			do := c.ResumeAgent
			if pause {
				do = c.PauseAgent
			}
			v, err := do(ctx, meta, agent, fairlead.PauseBody{})
			return fmt.Sprint(v.Paused), err
		}
	}
	m.give(rt, o)
}

func (m *cluster) comment(o *order) {
	n := 1
	for _, all := range m.said {
		n += len(all)
	}
	task, text := o.task, fmt.Sprint("comment ", n)
	o.text = text
	o.send = func(c *Control, meta Meta) (string, error) {
		v, err := c.Comment(context.Background(), meta, task, fairlead.CommentBody{Text: text})
		return v.ID, err
	}
}

// tired picks a run that failed, was cancelled, or is in back-off.
func (m *cluster) tired(rt *rapid.T) string {
	var ids []string
	m.read(func(tx *store.ReadTx) error {
		for _, task := range m.tasks {
			runs, _, err := tx.ListRuns(store.RunFilter{Task: task}, store.Page{Limit: 200})
			if err != nil {
				return err
			}
			for _, r := range runs {
				if r.Status == fairlead.RunDead || r.Status == fairlead.RunCancelled || r.Status == fairlead.RunQueued && r.Attempt > 0 {
					ids = append(ids, r.ID)
				}
			}
		}
		return nil
	})
	if len(ids) == 0 {
		rt.Skip("nothing failed")
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(rt, "run")
}

func (m *cluster) answers(rt *rapid.T) {
	if len(m.asked) == 0 {
		rt.Skip("nothing asked")
	}
	id := m.asked[0]
	m.asked = m.asked[1:]
	m.give(rt, &order{meta: owner(), what: "answer", send: func(c *Control, meta Meta) (string, error) {
		v, err := c.Answer(context.Background(), meta, id, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "that"}})
		return v.ID + string(v.State), err
	}})
}

// give sends an order under one operation id, perhaps several times, one after the other or at once, to any nodes.
func (m *cluster) give(rt *rapid.T, o *order) {
	n, atOnce := times(rt)
	doors := make([]*station, n)
	for i := range doors {
		doors[i] = m.one(rt, m.working())
	}
	o.meta.Op = fairlead.OpID(fmt.Sprintf("op_%d", epochs.Add(1)))
	results, errs := make([]string, n), make([]error, n)
	send := func(i int) (err error) { results[i], err = o.send(doors[i].c, o.meta); return err }
	if atOnce {
		errs = together(n, send)
	} else {
		for i := range n {
			errs[i] = send(i)
		}
	}
	for i, err := range errs {
		if err != nil && !fairlead.IsCode(err, fairlead.CodeConflict) && !fairlead.IsCode(err, fairlead.CodeRefused) {
			m.rt.Fatalf("%s: %v", o.what, err)
		}
		if (err == nil) != (errs[0] == nil) || results[i] != results[0] {
			m.rt.Fatalf("one %s was answered %v, %v", o.what, results, errs)
		}
	}
	if errs[0] == nil {
		m.taken(o, results[0])
	}
	m.launched()
}

// taken notes an order that was carried out.
func (m *cluster) taken(o *order, result string) {
	o.result = result
	m.orders = append(m.orders, o)
	if o.text == "" {
		return
	}
	m.read(func(tx *store.ReadTx) error {
		records, err := tx.ListRecords(o.task, 0, 100_000)
		for _, r := range records {
			if r.Kind == fairlead.RecordComment && saidIn(r) == o.text {
				m.said[o.task][o.text] = r.Seq
			}
		}
		return err
	})
}

// launched takes direct launches in hand. One order launches at most once: a second claim of the run would be seen.
func (m *cluster) launched() {
	for _, s := range m.nodes {
		for _, k := range s.hands.launched {
			s.takes(k)
		}
		s.hands.launched = nil
	}
}

// repeats sends an order of old again, to any node, and one with its id and another body.
func (m *cluster) repeats(rt *rapid.T) {
	if len(m.orders) == 0 {
		rt.Skip("no order was taken")
	}
	o, door := rapid.SampledFrom(m.orders).Draw(rt, "order"), m.one(rt, m.working())
	before := m.standing()
	result, err := o.send(door.c, o.meta)
	if err != nil || result != o.result {
		m.rt.Fatalf("the %s was answered %q, and sent again %q, %v", o.what, o.result, result, err)
	}
	_, err = door.c.Comment(context.Background(), o.meta, m.tasks[0], fairlead.CommentBody{Text: "another body"})
	if !fairlead.IsCode(err, fairlead.CodeOpReused) {
		m.rt.Fatalf("another command under the id of a %s was answered %v", o.what, err)
	}
	after := m.standing()
	for id, r := range before {
		if after[id] != r {
			m.rt.Fatalf("the repetition of a %s changed run %+v to %+v", o.what, r, after[id])
		}
	}
	if len(after) != len(before) {
		m.rt.Fatalf("the repetition of a %s made a run", o.what)
	}
	m.launched()
}
