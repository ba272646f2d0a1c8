package fleet

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ManifestOptions describe the cluster of Kubernetes.
type ManifestOptions struct {
	// Image is the container's image, with the batch's program in it. Required.
	Image string
	// Claim is the persistent volume claim of the shared folder; it must be writable from
	// many nodes. Required.
	Claim string
	// Mount is the path at which the claim is mounted; the batch's folder lies in it.
	// Empty is that folder itself.
	Mount string
	// Namespace is the namespace of the job; empty is the user's default.
	Namespace string
	// Failures is the number of failures allowed for each worker, apart from requests to
	// be restarted; zero is 3.
	Failures int
	// GPU is the resource name of the cluster's GPUs; empty is nvidia.com/gpu.
	GPU string
}

// EnsureDefaults fills unset options.
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

// Validate returns all faults of a batch and its options together.
func (o ManifestOptions) Validate(b Batch) error {
	faults := []error{b.Validate(), b.Resources.foreign("Kubernetes")}
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	const longest = 63 // of a pod's host name: the job's name with the worker's number
	fault(!labelPattern.MatchString(b.Key) || len(b.Key)+1+len(strconv.Itoa(b.Workers)) > longest,
		"key %q: Kubernetes takes small letters, digits and -, at most %d with a worker's number", b.Key, longest)
	fault(o.Namespace != "" && (!labelPattern.MatchString(o.Namespace) || len(o.Namespace) > longest), "namespace %q: use small letters, digits and -", o.Namespace)
	fault(o.Image == "", "image is not named")
	fault(o.Claim == "", "claim is not named; the workers share a folder")
	fault(!strings.HasPrefix(b.Folder+"/", strings.TrimSuffix(o.Mount, "/")+"/"), "mount is %s, and folder %s does not lie in it", o.Mount, b.Folder)
	fault(o.Failures < 0, "failures is %d; it is at least 0", o.Failures)
	fault(b.Only != nil, "a manifest is of all workers")
	fault(len(b.Resources.Devices) > 0, "devices are for local workers; ask for gpus")
	return errors.Join(faults...)
}

// Manifest describes a batch as an Indexed Job of Kubernetes, for kubectl apply -f -. The
// cluster restarts workers that ask for it or whose node is lost without limit, and
// workers that fail a few times. It keeps the logs.
func Manifest(b Batch, o ManifestOptions) (string, error) {
	o.EnsureDefaults(b)
	if err := o.Validate(b); err != nil {
		return "", fmt.Errorf("write a manifest of %s: %w", b.Key, err)
	}
	y := &yaml{}
	y.text(0, "apiVersion", "batch/v1")
	y.text(0, "kind", "Job")
	y.open(0, "metadata")
	y.text(2, "name", b.Key)
	if o.Namespace != "" {
		y.text(2, "namespace", o.Namespace)
	}
	y.open(0, "spec")
	y.text(2, "completionMode", "Indexed")
	y.number(2, "completions", b.Workers)
	y.number(2, "parallelism", b.Workers)
	y.number(2, "backoffLimitPerIndex", o.Failures)
	y.policy()
	y.pod(b, o)
	return y.String(), nil
}

// yaml writes lines of YAML. Values from outside are quoted.
type yaml struct{ strings.Builder }

func (y *yaml) line(indent int, format string, args ...any) {
	y.WriteString(strings.Repeat(" ", indent))
	fmt.Fprintf(y, format+"\n", args...)
}

func (y *yaml) open(indent int, key string)          { y.line(indent, "%s:", key) }
func (y *yaml) number(indent int, key string, n int) { y.line(indent, "%s: %d", key, n) }
func (y *yaml) text(indent int, key, value string)   { y.line(indent, "%s: %s", key, yamlQuote(value)) }
func (y *yaml) item(indent int, key, value string)   { y.line(indent, "- %s: %s", key, yamlQuote(value)) }
func (y *yaml) variable(indent int, name, value string) {
	y.item(indent, "name", name)
	y.text(indent+2, "value", unexpanded(value))
}

// yamlQuote writes a text as a double-quoted scalar: Go's escapes for ASCII mean the same
// in YAML for all UTF-8 texts.
func yamlQuote(text string) string { return strconv.QuoteToASCII(text) }

// unexpanded keeps Kubernetes from taking $(NAME) for a variable.
func unexpanded(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// policy ignores pods that ask to be restarted and pods that the cluster has ended.
func (y *yaml) policy() {
	y.open(2, "podFailurePolicy")
	y.open(4, "rules")
	y.item(4, "action", "Ignore")
	y.open(6, "onPodConditions")
	y.item(6, "type", "DisruptionTarget")
	y.text(8, "status", "True")
	y.item(4, "action", "Ignore")
	y.open(6, "onExitCodes")
	y.text(8, "containerName", "worker")
	y.text(8, "operator", "In")
	y.line(8, "values: [%d]", againCode)
}

// pod is the template of a worker's pod.
func (y *yaml) pod(b Batch, o ManifestOptions) {
	y.open(2, "template")
	y.open(4, "spec")
	y.text(6, "restartPolicy", "Never")
	if seconds := int(b.Resources.Time.Seconds()); seconds > 0 {
		y.number(6, "activeDeadlineSeconds", seconds)
	}
	y.open(6, "containers")
	y.item(6, "name", "worker")
	y.text(8, "image", o.Image)
	y.open(8, "command")
	for _, word := range b.Argv {
		y.line(8, "- %s", yamlQuote(unexpanded(word)))
	}
	y.text(8, "workingDir", b.dir())
	y.environment(b)
	y.resources(b.Resources, o)
	y.open(8, "volumeMounts")
	y.item(8, "name", "shared")
	y.text(10, "mountPath", o.Mount)
	y.open(6, "volumes")
	y.item(6, "name", "shared")
	y.open(8, "persistentVolumeClaim")
	y.text(10, "claimName", o.Claim)
}

func (y *yaml) environment(b Batch) {
	y.open(8, "env")
	for _, env := range b.Env {
		name, value, _ := strings.Cut(env, "=")
		y.variable(8, name, value)
	}
	y.variable(8, folderVariable, b.Folder)
	y.item(8, "name", workerVariable)
	y.open(10, "valueFrom")
	y.open(12, "fieldRef")
	y.text(14, "fieldPath", "metadata.annotations['batch.kubernetes.io/job-completion-index']")
	y.variable(8, "GRAFT_THREADS", strconv.Itoa(max(1, b.Resources.CPUs)))
	if b.Resources.GPUs > 0 {
		y.variable(8, "GRAFT_DEVICE", "cuda:0")
	}
}

// resources are the requests, and at the same time the limits.
func (y *yaml) resources(r Resources, o ManifestOptions) {
	amounts := [][2]string{{"cpu", strconv.Itoa(max(1, r.CPUs))}}
	if r.MemoryMB > 0 {
		amounts = append(amounts, [2]string{"memory", strconv.Itoa(r.MemoryMB) + "Mi"})
	}
	if r.GPUs > 0 {
		amounts = append(amounts, [2]string{yamlQuote(o.GPU), strconv.Itoa(r.GPUs)})
	}
	y.open(8, "resources")
	for _, kind := range []string{"requests", "limits"} {
		y.open(10, kind)
		for _, amount := range amounts {
			y.text(12, amount[0], amount[1])
		}
	}
}
