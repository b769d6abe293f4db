import { expect, test } from 'vitest'
import { describeReaders } from './describe-readers.ts'

test.each([
  [undefined, 'Only people with access can see this.'],
  [{ granted: 1, mlros: 1 }, '1 person by name and the MLRO can see this.'],
  [{ granted: 2, mlros: 0 }, '2 people by name and no MLRO can see this.'],
  [{ granted: 0, mlros: 2 }, '0 people by name and 2 MLROs can see this.'],
])('readers %j are described', (people, text) => {
  expect(describeReaders(people)).toBe(text)
})
