/** Values of a call of a provider in a step. */
import { expect, test } from 'vitest'
import { listKnownInputs, listMissingInputs, suggestInputs, toInputSources } from './step-inputs.ts'

const playbook = { facts: [{ name: 'residence_country' }, { name: 'layers', default: 1 }, { name: 'register_number' }] }
const subject = {
  name: 'Example GmbH',
  subject_type: 'company',
  external_id: null,
  segment: 'corporate',
  attributes: { residence_country: 'DE', secret: 'not declared' },
}

test('knows what the playbook declares and every subject has, and nothing else', () => {
  expect(listKnownInputs(playbook, subject)).toEqual({
    residence_country: 'DE',
    layers: 1,
    name: 'Example GmbH',
    subject_type: 'company',
    segment: 'corporate',
  })
  expect(listKnownInputs(undefined, { name: 'A', subject_type: 'person' })).toEqual({
    name: 'A',
    subject_type: 'person',
  })
})

test('a required value that is neither given nor known is missing', () => {
  const schema = { properties: {}, required: ['register_number', 'residence_country', 'is_listed'] }
  const known = listKnownInputs(playbook, subject)
  expect(listMissingInputs(schema, {}, known)).toEqual(['register_number', 'is_listed'])
  expect(listMissingInputs(schema, { register_number: 'HRB 1', is_listed: false }, known)).toEqual([])
})

test('attributes that the playbook does not declare are suggested where they fit', () => {
  const properties = {
    residence_country: { type: 'string' },
    secret: { type: 'string' },
    layers: { type: 'integer' },
    number: { type: 'string' },
  } as const
  const with_number = { ...subject, attributes: { ...subject.attributes, number: 7 } }
  expect(suggestInputs({ properties, required: [] }, listKnownInputs(playbook, subject), with_number)).toEqual({
    secret: 'not declared',
  })
})

test('values by hand are named as such', () => {
  expect(toInputSources({ register_number: 'HRB 1', year: 2025 })).toEqual({
    register_number: { value: 'HRB 1' },
    year: { value: 2025 },
  })
})
