/** A number with the noun it counts, for texts that people read: "1 entry", "1,204 entries". Pure. */
export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`
