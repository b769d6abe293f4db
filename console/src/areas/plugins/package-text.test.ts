import { expect, test } from 'vitest'
import { blankDraft, getDraftKey, getKey, type PackageDraft, raiseVersion, template, toUpload } from './package-text.ts'

const typed: PackageDraft = { ...blankDraft, way: 'typed', ...template }
const zip = { name: 'Shell_Signals-1.0.0.zip', size_bytes: 3, base64: 'UEsD', plugin_key: 'shell_company-signals' }

test('sends what was typed as a package, with the source under the name of the entry', () => {
  const upload = toUpload({ ...typed, manifest: '{"entry":"main.js"}', source: 'export {}', note: 'First' })
  expect(upload).toEqual({
    package: { manifest: { entry: 'main.js' }, files: { 'main.js': 'export {}' } },
    note: 'First',
  })
})

test('sends a chosen archive as it is', () => {
  expect(toUpload({ ...blankDraft, zip })).toEqual({ zip: 'UEsD' })
})

test('sends nothing while the file is missing or the manifest is no JSON object', () => {
  expect(toUpload(blankDraft)).toBeNull()
  expect(toUpload({ ...typed, manifest: '[1]' })).toBeNull()
  expect(toUpload({ ...typed, manifest: '' })).toBeNull()
})

test('takes the key from the manifest, whatever the file is called', () => {
  expect(getDraftKey(typed)).toBe('few-directors')
  expect(getDraftKey({ ...blankDraft, zip })).toBe('shell_company-signals')
  expect(getDraftKey(blankDraft)).toBe('')
  expect(getKey({ plugin_key: 1 })).toBe('')
})

test.each([
  ['1.2.9', '1.2.10'],
  ['1.2.3-draft', '1.2.4'],
  ['first', 'first'],
])('raises the version %s to %s', (version, next) => {
  expect(raiseVersion(version)).toBe(next)
})
