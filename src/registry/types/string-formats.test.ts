/** String formats by their RFCs: the public suite where present, and vectors derived from the grammars. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileSchema, FORMATS } from './schema-validator.ts'

const label63 = 'a'.repeat(63)

/** Valid and invalid values of each format. */
const vectors: Record<string, { readonly valid: readonly string[]; readonly invalid: readonly string[] }> = {
  date: {
    valid: ['2024-02-29', '2000-02-29', '0001-01-01', '2023-12-31'],
    invalid: [
      '2023-02-29',
      '1900-02-29',
      '2023-04-31',
      '2023-13-01',
      '2023-00-10',
      '2023-1-01',
      '20230101',
      '٢٠٢٣-01-01',
      '2023-01-01\n',
      '',
    ],
  },
  time: {
    valid: [
      '00:00:00Z',
      '23:59:59z',
      '10:20:30.000001+05:45',
      '23:59:60Z',
      '18:59:60-05:00',
      '05:44:60+05:45',
      '12:00:00-00:00',
    ],
    invalid: [
      '24:00:00Z',
      '12:60:00Z',
      '12:00:61Z',
      '12:00:60Z',
      '23:59:60+01:00',
      '12:00:00',
      '12:00Z',
      '12:00:00+0100',
      '12:00:00+24:00',
      '12:00:00.Z',
      ' 12:00:00Z',
    ],
  },
  'date-time': {
    valid: ['2026-03-31T14:30:00Z', '2026-03-31t14:30:00.5z', '2016-12-31T23:59:60Z', '2017-01-01T08:59:60+09:00'],
    invalid: [
      '2026-03-31 14:30:00Z',
      '2026-03-31T14:30:00',
      '2026-02-30T00:00:00Z',
      '2026-03-31T24:00:00Z',
      '2026-03-31',
      '2026-03-31T14:30Z',
      '2026-03-31TT14:30:00Z',
      '2016-12-31T23:59:60+02:00',
    ],
  },
  duration: {
    valid: ['P30D', 'P1Y', 'P1Y2M3DT4H5M6S', 'PT36H', 'P6W', 'PT0S', 'P1MT1M'],
    invalid: ['P', 'PT', 'P1YT', 'P1Y2D', 'PT1H2S', 'P1W2D', 'PT1D', 'P1D1Y', 'PT1.5S', '-P1D', 'P1d', '30D'],
  },
  email: {
    valid: [
      'ann@example.com',
      '"ann lee"@example.com',
      'a+b@[192.0.2.1]',
      'a@[IPv6:2001:db8::1]',
      'a@host',
      `${'a'.repeat(64)}@example.com`,
    ],
    invalid: [
      'ann',
      '@example.com',
      'ann@',
      'a b@example.com',
      'a..b@example.com',
      'ann@example.com.',
      'ann@-x.com',
      'ann@[192.0.2.256]',
      'jörg@example.com',
      `${'a'.repeat(65)}@example.com`,
      'a@b@c.com',
    ],
  },
  hostname: {
    valid: ['example.com', 'localhost', '3com.com', 'a-b.c', `${label63}.com`, 'xn--bcher-kva.example', '192.0.2.1'],
    invalid: [
      '',
      '.',
      'example.com.',
      'a..b',
      '-a.com',
      'a-.com',
      'a_b.com',
      `${label63}a.com`,
      `${label63}.${label63}.${label63}.${label63}`,
      'bücher.example',
      'ab--cd.com',
      'xn--0.com',
      'a b',
      'example.com:80',
    ],
  },
  ipv4: {
    valid: ['192.0.2.1', '0.0.0.0'],
    invalid: ['192.0.2.256', '192.0.2', '192.0.2.01', '0x7f.0.0.1', '192.0.2.1/24', '1'],
  },
  ipv6: {
    valid: ['::', '::1', '2001:db8::8:800:200c:417a', '::ffff:192.0.2.1'],
    invalid: ['1:2', '1::2::3', '12345::', 'fe80::1%eth0', '::1/64', '::ffff:192.0.2.256', '1:2:3:4:5:6:7:8:9'],
  },
  uri: {
    valid: [
      'https://example.com',
      'urn:isbn:0451450523',
      'mailto:a@b.c',
      'http://[2001:db8::7]:80/a?b=c#d',
      'file:///etc/hosts',
      'a:',
    ],
    invalid: [
      'example.com',
      '//example.com',
      '/a',
      'http://a b',
      'http://é.com',
      'http://a/%zz',
      'http://[::1',
      'http://a:b',
      '1a:b',
      'http://a\\b',
      'http://a#b#c',
    ],
  },
  'uri-reference': {
    valid: ['', 'a', '/a/b', '//host/a', '?q', '#f', '../a:b', 'http://a'],
    invalid: ['a:b:c d', '1a:b', '\\\\host\\share', '/a b', '%', '/é'],
  },
  'uri-template': {
    valid: ['/a/{b}', '{+a,b*,c:3}', 'http://a/{?q,n}', '', '{a.b}'],
    invalid: ['{', '/a/{b', 'a}', '{a b}', '{}', '/a b', '{a:0}'],
  },
  uuid: {
    valid: [
      '2eb8aa08-aa98-11ea-b4aa-73b441d16380',
      '2EB8AA08-AA98-11EA-B4AA-73B441D16380',
      '00000000-0000-0000-0000-000000000000',
    ],
    invalid: [
      'urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380',
      '2eb8aa08aa9811eab4aa73b441d16380',
      '{2eb8aa08-aa98-11ea-b4aa-73b441d16380}',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638g',
    ],
  },
  'json-pointer': { valid: ['', '/', '/a/0/~0~1', '/ '], invalid: ['a', '/a~', '/a~2', '#/a'] },
  'relative-json-pointer': { valid: ['0', '1/a', '0#', '10/~1'], invalid: ['', '/a', '01/a', '-1/a', '1a', '0##'] },
  regex: { valid: ['^a+$', '\\p{L}', ''], invalid: ['(', 'a{2,1}', '\\a', '[z-a]'] },
}

test('has vectors for every format, and accepts other types than text', () => {
  expect(Object.keys(vectors).sort()).toEqual([...FORMATS].sort())
  for (const format of FORMATS)
    for (const value of [1, true, null, {}, []]) expect(compileSchema({ format })(value)).toBe(true)
})

describe.each(Object.entries(vectors))('%s', (format, { valid, invalid }) => {
  const fits = compileSchema({ type: 'string', format })
  test.each(valid)('accepts %j', (text) => expect(fits(text)).toBe(true))
  test.each(invalid)('refuses %j', (text) => expect(fits(text)).toBe(false))
})

interface Group {
  readonly description: string
  readonly schema: { readonly format: string }
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const suite = path.resolve(
  import.meta.dirname,
  '../../../../shared/data/conformance/json-schema/tests/draft2020-12/optional/format',
)
const present = FORMATS.filter((format) => existsSync(path.join(suite, `${format}.json`)))
if (present.length < FORMATS.length) {
  console.log(
    `${FORMATS.length - present.length} of ${FORMATS.length} format files of the JSON Schema suite are not in ${suite}: skipped`,
  )
}

describe.runIf(present.length > 0)('JSON-Schema-Test-Suite', () => {
  test.each(present)('%s', (format) => {
    const groups = JSON.parse(readFileSync(path.join(suite, `${format}.json`), 'utf8')) as Group[]
    const different = groups.flatMap(({ schema, tests }) => {
      const fits = compileSchema({ format: schema.format })
      return tests.filter(({ data, valid }) => fits(data) !== valid).map(({ description }) => description)
    })
    expect(different).toEqual([])
  })
})
