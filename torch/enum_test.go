package torch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRulesAndPrecisionsHaveNames(t *testing.T) {
	assert.Equal(t, []string{"sgd", "adam", "adamw"}, RuleNames())
	for _, rule := range []Rule{0, SGD, Adam, AdamW} {
		text, err := rule.MarshalText()
		require.NoError(t, err)
		again := Rule(99)
		require.NoError(t, again.UnmarshalText(text))
		assert.Equal(t, rule, again)
	}
	assert.Equal(t, "adamw", AdamW.String())
	assert.Equal(t, "none", Rule(0).String())
	assert.Equal(t, "rule 99", Rule(99).String())
	_, err := Rule(99).MarshalText()
	assert.ErrorContains(t, err, "99")
	assert.ErrorContains(t, new(Rule).UnmarshalText([]byte("rmsprop")),
		`unknown rule "rmsprop"; expected one of: sgd, adam, adamw`)

	assert.Equal(t, []string{"float32", "bfloat16", "float16", "tf32"}, PrecisionNames())
	precision := Brain
	require.NoError(t, precision.UnmarshalText(nil))
	assert.Equal(t, Single, precision)
	assert.Equal(t, "bfloat16", Brain.String())
	_, err = Precision(-1).MarshalText()
	assert.ErrorContains(t, err, "unknown precision -1")
}
