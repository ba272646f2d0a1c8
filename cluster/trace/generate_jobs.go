package trace

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// wave holds a component of the log-normal mixture of durations.
type wave struct {
	median float64 // seconds
	sigma  float64 // of the logarithm
	share  float64 // cumulative share of jobs
}

// maxDuration is the maximum duration, two weeks; longer ones are clipped.
const maxDuration = 14 * secondsOfDay

// waves are the durations of jobs by number of GPUs, fitted by expectation maximisation to a month of the cluster
// Venus. Jobs that fail immediately, tests and training are different waves; large jobs are short more often.
var waves = []struct {
	most  int // maximum number of GPUs
	waves []wave
}{
	{1, []wave{{103, 0.25, 0.21}, {144, 1.85, 0.505}, {380, 0.72, 0.195}, {18_500, 1.6, 0.09}}},
	{4, []wave{{38, 1.78, 0.27}, {164, 0.6, 0.29}, {1220, 2.15, 0.322}, {87_000, 0.97, 0.118}}},
	{8, []wave{{9, 1.65, 0.085}, {140, 1.02, 0.523}, {1300, 1.56, 0.249}, {73_000, 1.12, 0.143}}},
	{64, []wave{{6, 0.98, 0.09}, {70, 0.25, 0.28}, {315, 1.42, 0.465}, {37_000, 1.43, 0.165}}},
	{math.MaxInt, []wave{{5, 0.25, 0.47}, {125, 1.58, 0.472}, {26_000, 1.5, 0.058}}},
}

func wavesOf(gpus int) []wave {
	for _, w := range waves {
		if gpus <= w.most {
			return w.waves
		}
	}
	return nil
}

// gpuMix is the share of jobs, in thousandths, that request a number of GPUs, as in Venus.
var gpuMix = []struct {
	gpus  int
	share float64
}{
	{1, 565}, {2, 62.5}, {3, 2}, {4, 69}, {5, 0.5}, {6, 1.6}, {7, 2.8}, {8, 194}, {16, 22}, {24, 9}, {32, 40.4},
	{40, 1.5}, {48, 0.6}, {56, 1}, {64, 1.2}, {80, 0.5}, {96, 0.5}, {112, 0.7}, {120, 4.3}, {128, 16.9}, {136, 1.6},
	{144, 0.5}, {152, 0.3}, {160, 1},
}

// genSize is a number of GPUs with the virtual clusters that have enough.
type genSize struct {
	gpus  int
	upTo  float64 // cumulative share of jobs, from 0 to 1
	vcs   []int   // virtual clusters with enough room
	share float64 // of jobs
}

// roomFor is the minimum ratio of a virtual cluster's size to its multi-node jobs: nine in ten of Venus's are at least
// 1.5 times as large as their largest job.
const roomFor = 1.5

// sizesFor returns the sizes in a cluster, and the virtual clusters for each size. A size that exceeds every virtual
// cluster's room becomes the largest number of whole nodes for which there is room.
func sizesFor(vcs []VC, perNode int) []genSize {
	most, sum := max(int(float64(vcs[0].Nodes)/roomFor), 1)*perNode, 0.0
	for _, m := range gpuMix {
		sum += m.share
	}
	var sizes []genSize
	upTo := 0.0
	for _, m := range gpuMix {
		share := m.share / sum
		upTo += share
		size := genSize{gpus: min(m.gpus, most), upTo: upTo, share: share}
		for k, vc := range vcs {
			if has := vc.Nodes * perNode; size.gpus <= min(perNode, has) || roomFor*float64(size.gpus) <= float64(has) {
				size.vcs = append(size.vcs, k)
			}
		}
		sizes = append(sizes, size)
	}
	return sizes
}

// expected returns the mean of a mixture that is stretched and then clipped.
func expected(mixture []wave, stretch float64) float64 {
	below := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	sum := 0.0
	for _, w := range mixture {
		mu := math.Log(w.median * stretch)
		z := (math.Log(maxDuration) - mu) / w.sigma
		sum += float64(w.share * (float64(math.Exp(mu+w.sigma*w.sigma/2)*below(z-w.sigma)) +
			float64(maxDuration*below(-z))))
	}
	return sum
}

// stretchFor returns the factor of durations for a load. It bisects, since durations clipped at two weeks do not grow.
func stretchFor(sizes []genSize, o GenerateOptions) float64 {
	want := o.Load * float64(o.Nodes*o.GPUsPerNode) * float64(o.Days*secondsOfDay) / float64(o.Jobs)
	low, high := math.Log(1e-6), math.Log(1e6)
	for range 60 {
		middle, has := (low+high)/2, 0.0
		for _, s := range sizes {
			has += float64(s.share * float64(s.gpus) * expected(wavesOf(s.gpus), math.Exp(middle)))
		}
		if has < want {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// template is a job that a user submits repeatedly with small changes. Jobs with one name have similar durations.
type template struct {
	vc    int
	user  string
	gpus  int
	level int // integer part of the scaled logarithm of the duration
	name  string
	of    *Training
	hash  uint64
}

// levelWidth is the width of a level in the logarithm of durations: durations of jobs with one name differ by less than
// a factor of 1.65.
const levelWidth = 0.5

// zipf is the exponent of users' activity: the k-th user of a virtual cluster submits 1/k of the first user's jobs.
const zipf = 1.0

// draw picks a virtual cluster, one of its users, and the job that the user submits.
func (g *Generator) draw() template {
	size := &g.sizes[len(g.sizes)-1]
	for k, u := 0, g.pick.Float64(); k < len(g.sizes); k++ {
		if u < g.sizes[k].upTo {
			size = &g.sizes[k]
			break
		}
	}
	t := template{gpus: size.gpus}
	t.level = int(math.Floor(math.Log(logNormal(g.time, wavesOf(t.gpus))) / levelWidth))
	t.vc = g.place(size, g.pick.Float64())
	users := g.owners[t.vc]
	t.user = users[zipfOf(g.pick.Float64(), len(users))]
	g.name(&t)
	return t
}

// place picks the virtual cluster of a job. The probability rises with its nodes and falls with the GPU time per node
// assigned so far. Users go where there is room, so the loads of virtual clusters differ less than by chance.
func (g *Generator) place(size *genSize, u float64) int {
	mean := g.given / float64(g.o.Nodes)
	sum := 0.0
	for _, k := range size.vcs {
		nodes := float64(g.vcs[k].Nodes)
		ahead := max(0, g.used[k]/nodes-mean) / (evenness*mean + secondsOfDay)
		sum += nodes / ((1 + ahead) * (1 + ahead))
		g.weights[k] = sum
	}
	for _, k := range size.vcs {
		if u*sum < g.weights[k] {
			return k
		}
	}
	return size.vcs[len(size.vcs)-1]
}

// evenness is the lead over the mean, as a share of the mean, at which a virtual cluster gets only a quarter of its
// jobs.
const evenness = 0.1

// zipfOf converts a draw from 0 to 1 to a rank below n, by the inverse of a continuous distribution that falls as 1/x
// from 1 to n+1.
func zipfOf(u float64, n int) int {
	return min(int(math.Exp(u*math.Log(float64(n)+1)/zipf)), n) - 1
}

// logNormal draws from a mixture.
func logNormal(r *rand.Rand, mixture []wave) float64 {
	u, w := r.Float64(), mixture[len(mixture)-1]
	for _, next := range mixture {
		if u < next.share {
			w = next
			break
		}
		u -= next.share
	}
	return w.median * math.Exp(w.sigma*r.NormFloat64())
}

// name sets a template's name and workload. Both follow from the user, the size and the duration, so that they repeat.
func (g *Generator) name(t *template) {
	t.hash = hashed([]byte(t.user + "/" + strconv.Itoa(t.gpus) + "/" + strconv.Itoa(t.level)))
	t.of = &workloads[t.hash%uint64(len(workloads))]
	text := strconv.AppendInt(append([]byte(t.of.Model), '-'), int64(t.gpus), 10)
	text = strconv.AppendUint(append(text, "gpu-"...), t.hash>>40, 16)
	t.name = g.names.of(text)
}

// fill makes a job from a template.
func (g *Generator) fill(job *Job, t *template) {
	inside := math.Exp((float64(t.level) + g.time.Float64()) * levelWidth)
	seconds := min(math.Round(inside*g.stretch), maxDuration)
	cpus := 1
	if t.hash>>8%10 < 3 {
		cpus = 4
	}
	spent := max(seconds, 1) * float64(t.gpus)
	g.used[t.vc] += spent
	g.given += spent
	*job = Job{
		User: t.user, VC: g.vcs[t.vc].Name, Name: t.name, Duration: max(int64(seconds), 1), GPUs: t.gpus,
		CPUs: cpus * t.gpus, State: g.ends(int64(seconds)), Training: t.of,
	}
}

// ends draws the end state of a job: a quarter is cancelled, and most failures are early.
func (g *Generator) ends(seconds int64) State {
	const soon = 600 // seconds
	failed := 0.24
	if seconds > soon {
		failed = 0.07
	}
	u := g.pick.Float64()
	switch {
	case seconds == maxDuration:
		return TimedOut
	case u < 0.25:
		return Cancelled
	case u < 0.25+failed:
		return Failed
	}
	return Completed
}

// workloads are invented: their values have realistic magnitudes, but none was measured.
var workloads = []Training{
	{"small-images", "resnet18", 128, false, 5200, 71, 39, 3900},
	{"small-images", "resnet18", 128, true, 6900, 55, 30, 3100},
	{"large-images", "resnet50", 32, false, 310, 94, 58, 8200},
	{"large-images", "resnet50", 64, true, 620, 91, 55, 9400},
	{"small-images", "mobilenet", 64, false, 3300, 46, 22, 2600},
	{"small-images", "vgg16", 256, false, 4100, 88, 61, 5100},
	{"scans", "unet", 16, true, 75, 82, 47, 11_800},
	{"faces", "gan", 64, false, 2400, 64, 33, 3300},
	{"translations", "transformer", 64, true, 118, 90, 52, 13_600},
	{"questions", "bert", 32, true, 115, 97, 66, 15_200},
	{"texts", "lstm", 64, false, 640, 38, 24, 2900},
	{"ratings", "recommender", 512, false, 98_000, 12, 4, 2100},
	{"shapes", "pointnet", 32, false, 420, 33, 17, 2800},
	{"games", "policy", 256, false, 1500, 17, 6, 1900},
}
