// Package contrast tests registered differences between arms over the settings of a study.
//
// A study has several sweeps, such as one per network family. A setting is a sweep with one combination of its swept
// values, and has a trial per arm and seed. A contrast is a question about two arms, registered in a file. In a
// setting, trials of both arms with the same seed are paired. Over all settings, the setting is the unit: each setting
// counts once, by its mean over seeds.
//
// Intervals use Student's t-distribution, over seeds in a setting and over settings in a study. The percentile
// bootstrap of package evaluation is too narrow for a study of few settings. The test over settings flips signs
// (Fisher 1935), so it needs no assumption about the distribution. p-values over settings are corrected over the
// contrasts of the file, and p-values in settings are corrected over the settings of their contrast (Holm 1979).
package contrast
