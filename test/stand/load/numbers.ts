export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0

export const tenths = (value: number): number => Math.round(value * 10) / 10
export const hundredths = (value: number): number => Math.round(value * 100) / 100
