/** Who sees what belongs to a restriction in force, in one sentence. */
import type { Schemas } from '@probity/client'
import { formatCount } from '../format.ts'

type People = Pick<Schemas['Restriction']['people'], 'granted' | 'mlros'>

/** A designated MLRO has access without being named, unless excluded. */
export function describeReaders(people: People | undefined): string {
  if (people === undefined) return 'Only people with access can see this.'
  const { granted, mlros } = people
  const officers = mlros === 0 ? 'no MLRO' : mlros === 1 ? 'the MLRO' : `${mlros} MLROs`
  return `${formatCount(granted, 'person', 'people')} by name and ${officers} can see this.`
}
