package cluster

// Profiles are what was measured of models, alone and in pairs.
type Profiles struct{}

// Forecast is what is expected to be submitted.
type Forecast struct{}
