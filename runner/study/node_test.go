package study_test

import (
	"testing"

	_ "graft/original/tasks"
	"graft/runner/study/studytest"
)

// nodeSet returns a small study of tasks: two workloads whose best schedules are searched, and a scheduler with two
// seeds.
func nodeSet() []string {
	return []string{"machine.gpus=2", `machine.cores="whole"`, "tasks.min_tasks=4", "tasks.max_tasks=6",
		"tasks.test_count=2",
		`schedule.schedulers=["best-fit", "lottery", "wfq"]`, "schedule.seeds=2"}
}

func TestNodeRunsSurviveFaults(t *testing.T) { studytest.Survives(t, "node", "", nodeSet()...) }

func TestNodeRunsResume(t *testing.T) { studytest.Resumes(t, 20, "node", "", nodeSet()...) }

// The published study has no separate workloads, and resumes scheduler by scheduler.
func TestPublishedTasksResume(t *testing.T) {
	studytest.Resumes(t, 5, "node", "", `machine.compat="tasks"`, "tasks.test_count=3",
		`schedule.schedulers=["random", "best_fit", "oracle_fit"]`)
}
