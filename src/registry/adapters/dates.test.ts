import { expect, test } from 'vitest'
import { parseDate } from './dates.ts'
import { birthDate } from './sanctioned-party.ts'

test.each([
  ['2007-11-14', ['YYYY-MM-DD'], '2007-11-14'],
  ['14/11/2007', ['MM/DD/YYYY', 'DD/MM/YYYY'], '2007-11-14'],
  ['1.2.2007', ['D.M.YYYY'], '2007-02-01'],
  ['05 Jun 1950', ['DD MMM YYYY'], '1950-06-05'],
  ['5 September 1950', ['D MMM YYYY'], '1950-09-05'],
  ['Jun 1950', ['DD MMM YYYY', 'MMM YYYY'], '1950-06'],
  ['1950', ['YYYY'], '1950'],
  ['20240229', ['YYYYMMDD'], '2024-02-29'],
  ['2023-02-29', ['YYYY-MM-DD'], undefined],
  ['1900-02-29', ['YYYY-MM-DD'], undefined],
  ['2000-02-29', ['YYYY-MM-DD'], '2000-02-29'],
  ['2023-13-01', ['YYYY-MM-DD'], undefined],
  ['00/00/1980', ['DD/MM/YYYY'], undefined],
  ['5 Foo 1950', ['D MMM YYYY'], undefined],
  [' 2007-11-14', ['YYYY-MM-DD'], undefined],
])('%s by %j is %s', (text, formats, iso) => {
  expect(parseDate(text, formats)).toBe(iso)
})

test.each([
  ['22 Mar 1987', { date: '1987-03-22', year_from: 1987, year_to: 1987 }],
  ['Jun 1964', { year_from: 1964, year_to: 1964 }],
  ['1962', { year_from: 1962, year_to: 1962 }],
  ['1940 to 1942', { year_from: 1940, year_to: 1942 }],
  ['circa 1955', {}],
  ['unknown', {}],
])('born %s', (text, known) => {
  expect(birthDate(text, ['DD MMM YYYY', 'MMM YYYY', 'YYYY'])).toEqual({ text, ...known })
})
