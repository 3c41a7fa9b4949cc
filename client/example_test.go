package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

// pretend is a server that knows one task.
func pretend() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "POST /api/v1/tasks":
			fmt.Fprint(w, `{"id":"tsk_1","identifier":"FL-1","step":"todo"}`)
		case "GET /api/v1/tasks":
			fmt.Fprint(w, `{"items":[{"identifier":"FL-1","title":"Fix the build"}]}`)
		case "GET /api/v1/events":
			fmt.Fprint(w, "id: ep-8\nevent: task.moved\ndata: {\"kind\":\"task.moved\",\"task\":\"tsk_1\"}\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"code":"not_found","detail":"no such task","hint":"list them with fairlead task list"}`)
		}
	}))
}

func ExampleClient_CreateTask() {
	server := pretend()
	defer server.Close()
	c, err := client.New(server.URL, os.Getenv("FAIRLEAD_TOKEN"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := c.CreateTask(context.Background(), fairlead.NewTask{Title: "Fix the build"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(task.Identifier, "stands at", task.Step)
	// Output: FL-1 stands at todo
}

func ExampleExitCode() {
	server := pretend()
	defer server.Close()
	c, err := client.New(server.URL, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.GetTask(context.Background(), "FL-9")
	fmt.Println(err, client.ExitCode(err))
	// Output: no such task 3
}

func ExampleEach() {
	server := pretend()
	defer server.Close()
	c, err := client.New(server.URL, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tasks := client.Each(context.Background(), func(ctx context.Context, cursor string) (fairlead.Page[fairlead.TaskView], error) {
		return c.ListTasks(ctx, client.TaskQuery{State: "todo", Page: client.Page{Limit: 200, Cursor: cursor}})
	})
	for task, err := range tasks {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(task.Identifier, task.Title)
	}
	// Output: FL-1 Fix the build
}

func ExampleClient_Events() {
	server := pretend()
	defer server.Close()
	c, err := client.New(server.URL, "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range c.Events(context.Background(), "ep-7", "board") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.ID, event.Kind, event.Task)
		break
	}
	// Output: ep-8 task.moved tsk_1
}
