package workspace

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// spawn starts the warden with the command's three streams, the lifeline (descriptor 3) and the report pipe (4).
func (p *Process) spawn(l *Launcher, spec *Spec) error {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the child has its own copies
		}
	}()
	pipe := func(weRead bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if weRead {
			theirs = append(theirs, w)
			return r, nil
		}
		theirs = append(theirs, r)
		return w, nil
	}
	var ours [5]*os.File // stdin, stdout, stderr, lifeline, reports
	for i := range ours {
		f, err := pipe(i == 1 || i == 2 || i == 4)
		if err != nil {
			for _, f := range ours[:i] {
				_ = f.Close()
			}
			return err
		}
		ours[i] = f
	}
	p.orders, p.reports, p.status = ours[3], ours[4], json.NewDecoder(ours[4])
	p.warden = exec.Command(l.self[0], append(l.self[1:len(l.self):len(l.self)], spec.Execution)...)
	p.warden.Args[0] = "fairlead" // what a list of processes shows
	p.warden.Env = []string{EnvExecution + "=" + spec.Execution, EnvHome + "=" + l.home, envProcess + "=" + p.mark, envWarden + "=1",
		"GOMAXPROCS=2", "GOTRACEBACK=none"}
	p.warden.Stdin, p.warden.Stdout, p.warden.Stderr = theirs[0], theirs[1], theirs[2]
	if spec.Merge {
		p.warden.Stderr = theirs[1]
	}
	p.warden.ExtraFiles = []*os.File{theirs[3], theirs[4]}
	p.warden.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C at our terminal is not for it
	p.connect(spec, ours[0], ours[1], ours[2])
	return p.warden.Start()
}

// connect hands each stream to the caller, or copies it in a goroutine that watch waits for.
func (p *Process) connect(spec *Spec, stdin, stdout, stderr *os.File) {
	p.Stdin = stdin
	if spec.Stdin != nil {
		p.Stdin = nil
		go func() { // ends with its source or with the reader: both belong to the caller and the tree
			_, _ = io.Copy(stdin, spec.Stdin)
			_ = stdin.Close()
		}()
	}
	p.Stdout, p.Stderr = stdout, stderr
	if spec.Stdout != nil {
		p.Stdout = nil
		p.copyOut(spec.Stdout, stdout, spec.OutputLimit)
	}
	if spec.Merge {
		p.Stderr = nil
		_ = stderr.Close()
	} else if spec.Stderr != nil {
		p.Stderr = nil
		p.copyOut(spec.Stderr, stderr, spec.OutputLimit)
	}
}

func (p *Process) copyOut(dst io.Writer, src *os.File, limit int64) {
	p.readers = append(p.readers, src)
	p.copies.Add(1)
	go func() {
		defer p.copies.Done()
		defer src.Close()
		w := &limited{w: dst, left: limit, over: func() { _ = p.send(order{Kind: orderKill, Cause: CauseOutput}) }}
		_, _ = io.Copy(w, src)
	}()
}

// limited passes everything on and calls over once when more than the limit has come; 0 means no limit.
type limited struct {
	w     io.Writer
	left  int64
	over  func()
	fired bool
	seen  int64
}

func (l *limited) Write(p []byte) (int, error) {
	l.seen += int64(len(p))
	if l.left > 0 && l.seen > l.left {
		if !l.fired {
			l.fired = true
			l.over()
		}
		return len(p), nil
	}
	return l.w.Write(p)
}

// watch owns the process until its tree is dead: it reads the warden's reports, buries the warden, sweeps what the
// warden could not, and publishes the exit.
func (p *Process) watch() {
	defer close(p.done)
	exit := Exit{Code: -1, Cause: CauseLost}
	for {
		var r report
		if err := p.status.Decode(&r); err != nil {
			break
		}
		if r.Exit != nil {
			exit = *r.Exit
		}
	}
	_ = p.warden.Wait() // its exit code says nothing that its report does not
	if !exit.Clean || exit.Cause == CauseLost {
		exit.Clean = sweepTree(p.mark, killBound)
	}
	p.finishCopies()
	_ = p.orders.Close()
	_ = p.reports.Close()
	p.exit = exit
}

// finishCopies waits for the output to drain. A descriptor that somebody outside the tree holds does not keep us.
func (p *Process) finishCopies() {
	timer := time.AfterFunc(time.Second, func() {
		for _, f := range p.readers {
			_ = f.SetReadDeadline(time.Unix(1, 0))
		}
	})
	p.copies.Wait()
	timer.Stop()
}

// abandon ends a process whose start failed.
func (p *Process) abandon() {
	_ = p.orders.Close()
	timer := time.AfterFunc(killBound, func() { _ = p.warden.Process.Kill() })
	_ = p.warden.Wait()
	timer.Stop()
	sweepTree(p.mark, killBound)
	p.closeAll()
	p.finishCopies()
}

// closeAll gives every pipe back.
func (p *Process) closeAll() {
	for _, c := range []io.Closer{p.Stdin, p.Stdout, p.Stderr} {
		if c != nil {
			_ = c.Close()
		}
	}
	for _, f := range []*os.File{p.orders, p.reports} {
		if f != nil {
			_ = f.Close()
		}
	}
}
