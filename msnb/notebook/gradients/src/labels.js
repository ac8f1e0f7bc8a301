// Labels of statistics and kinds of rows.
export const STATISTIC = {
  norm: "norm",
  rms: "RMS (norm per element)",
  mean: "mean",
  std: "standard deviation",
  min: "smallest",
  max: "largest",
  zeros: "zeros",
  nan: "NaN",
  inf: "Inf",
  update: "|Δw| / |w|",
  weight: "norm of the weight",
  saturated: "saturated",
  dead: "units at zero",
};
export const KIND = {
  parameter: ["∂", "gradient of a Parameter"],
  output: ["→", "output of an operator"],
  gradient: ["←", "gradient of an operator's output"],
  weight: ["w", "values of a Parameter"],
};
export const SHARES = new Set(["zeros", "saturated", "dead"]);
