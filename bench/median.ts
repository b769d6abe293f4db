/** The middle of several measurements, which one disturbed round does not move. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = sorted.length % 2 === 0 ? [middle - 1, middle] : [middle, middle]
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2
}
