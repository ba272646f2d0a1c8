package fleet

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"graft/internal/validate"
)

// ManifestOptions holds the options of the Kubernetes job of a batch.
type ManifestOptions struct {
	// Image is the container image, which contains the batch's program. Required.
	Image string
	// Claim is the name of the persistent volume claim for the shared folder, which must be writable from several
	// nodes. Required.
	Claim string
	// Mount is the mount path of the claim. The batch's folder must be at or below this path. Empty means that the
	// claim is mounted at the batch's folder itself.
	Mount string
	// Namespace is the namespace of the job. Empty means the user's default namespace.
	Namespace string
	// Failures is the number of allowed failures per worker; restart requests do not count. Zero means 3.
	Failures int
	// GPU is the resource name of the cluster's GPUs. Empty means nvidia.com/gpu.
	GPU string
}

// EnsureDefaults sets zero fields to their defaults.
func (o *ManifestOptions) EnsureDefaults(b Batch) {
	if o.Mount == "" {
		o.Mount = b.Folder
	}
	if o.Failures == 0 {
		o.Failures = 3
	}
	if o.GPU == "" {
		o.GPU = "nvidia.com/gpu"
	}
}

// labelPattern matches names of jobs that Kubernetes accepts.
var labelPattern = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// Validate returns an error that lists every invalid value in the options or in the batch.
func (o ManifestOptions) Validate(b Batch) error {
	faults := validate.Faults{b.Validate(), b.Resources.foreign("Kubernetes")}
	const longest = 63 // limit for a pod's host name: the job's name with the worker's number
	faults.When(!labelPattern.MatchString(b.Key) || len(b.Key)+1+len(strconv.Itoa(b.Workers)) > longest,
		"key is %q; Kubernetes allows lower-case letters, digits and '-', and at most %d characters, including the "+
			"suffix with the worker's number", b.Key, longest)
	faults.When(o.Namespace != "" && (!labelPattern.MatchString(o.Namespace) || len(o.Namespace) > longest),
		"namespace is %q; expected at most %d lower-case letters, digits and '-'", o.Namespace, longest)
	faults.When(o.Image == "", "image is missing; set it to a container image that contains graft")
	faults.When(o.Claim == "", "claim is missing; set it to the persistent volume claim of the shared folder")
	faults.When(!strings.HasPrefix(b.Folder+"/", strings.TrimSuffix(o.Mount, "/")+"/"),
		"mount is %s, but folder %s is outside of it", o.Mount, b.Folder)
	faults.When(o.Failures < 0, "failures is %d; must be at least 0", o.Failures)
	faults.When(b.Only != nil, "only: must be empty, because a manifest must contain all workers")
	faults.When(len(b.Resources.Devices) > 0, "devices is for local workers only; use gpus")
	return errors.Join(faults...)
}

// Manifest describes a batch as a Kubernetes Indexed Job, for kubectl apply -f -. The cluster restarts workers that
// fail, up to the limit. If a worker requests a restart or its node is lost, the restart does not count towards the
// limit. The cluster, not the batch's folder, keeps the logs.
func Manifest(b Batch, o ManifestOptions) (string, error) {
	o.EnsureDefaults(b)
	if err := o.Validate(b); err != nil {
		return "", fmt.Errorf("write manifest of %s: %w", b.Key, err)
	}
	var text strings.Builder
	err := manifestTemplate.Execute(&text, map[string]any{
		"Batch": b, "Options": o, "Amounts": b.Resources.amounts(o.GPU), "Dir": b.dir(), "Again": againCode,
		"Kinds":   []string{"requests", "limits"},
		"Threads": strconv.Itoa(max(1, b.Resources.CPUs)), "Seconds": int(b.Resources.Time.Seconds()),
	})
	return text.String(), err
}

// amounts returns the requests of a pod, which are also its limits.
func (r Resources) amounts(gpu string) [][2]string {
	amounts := [][2]string{{"cpu", strconv.Itoa(max(1, r.CPUs))}}
	if r.MemoryMB > 0 {
		amounts = append(amounts, [2]string{"memory", strconv.Itoa(r.MemoryMB) + "Mi"})
	}
	if r.GPUs > 0 {
		amounts = append(amounts, [2]string{yamlQuote(gpu), strconv.Itoa(r.GPUs)})
	}
	return amounts
}

// manifestTemplate quotes external values. Pods that ask for a restart and pods that the cluster ends do not count as
// failures.
var manifestTemplate = template.Must(template.New("manifest").Funcs(template.FuncMap{
	"quote": yamlQuote,
	"word":  func(text string) string { return yamlQuote(unexpanded(text)) },
	"split": func(env string) []string { return strings.SplitN(env, "=", 2) },
}).Parse(`apiVersion: "batch/v1"
kind: "Job"
metadata:
  name: {{quote .Batch.Key}}
{{- with .Options.Namespace}}
  namespace: {{quote .}}
{{- end}}
spec:
  completionMode: "Indexed"
  completions: {{.Batch.Workers}}
  parallelism: {{.Batch.Workers}}
  backoffLimitPerIndex: {{.Options.Failures}}
  podFailurePolicy:
    rules:
    - action: "Ignore"
      onPodConditions:
      - type: "DisruptionTarget"
        status: "True"
    - action: "Ignore"
      onExitCodes:
        containerName: "worker"
        operator: "In"
        values: [{{.Again}}]
  template:
    spec:
      restartPolicy: "Never"
{{- with .Seconds}}
      activeDeadlineSeconds: {{.}}
{{- end}}
      containers:
      - name: "worker"
        image: {{quote .Options.Image}}
        command:
{{- range .Batch.Argv}}
        - {{word .}}
{{- end}}
        workingDir: {{quote .Dir}}
        env:
{{- range .Batch.Env}}
{{- $pair := split .}}
        - name: {{quote (index $pair 0)}}
          value: {{word (index $pair 1)}}
{{- end}}
        - name: "` + folderVariable + `"
          value: {{word .Batch.Folder}}
        - name: "` + workerVariable + `"
          valueFrom:
            fieldRef:
              fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"
        - name: "GRAFT_THREADS"
          value: {{quote .Threads}}
{{- if .Batch.Resources.GPUs}}
        - name: "GRAFT_DEVICE"
          value: "cuda:0"
{{- end}}
        resources:
{{- range $kind := .Kinds}}
          {{$kind}}:
{{- range $.Amounts}}
            {{index . 0}}: {{quote (index . 1)}}
{{- end}}
{{- end}}
        volumeMounts:
        - name: "shared"
          mountPath: {{quote .Options.Mount}}
      volumes:
      - name: "shared"
        persistentVolumeClaim:
          claimName: {{quote .Options.Claim}}
`))

// yamlQuote writes a text as a double-quoted scalar: Go's escapes for ASCII mean the same
// in YAML for all UTF-8 texts.
func yamlQuote(text string) string { return strconv.QuoteToASCII(text) }

// unexpanded prevents Kubernetes from expanding $(NAME).
func unexpanded(text string) string { return strings.ReplaceAll(text, "$", "$$") }
