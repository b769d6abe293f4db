import { expect, test } from 'vitest'
import {
  type AnswerSources,
  buildAnswerRequest,
  chooseSources,
  listContracts,
  listTypedInputs,
} from './answer-sources.ts'

const inputs = [
  { name: 'country', title: 'Country', type: 'enum', from: { contract_key: 'registry', fact: 'country' } },
  { name: 'status', title: 'Status', type: 'enum', from: { contract_key: 'registry', fact: 'status' } },
  { name: 'media', title: 'Media', type: 'boolean', from: { contract_key: 'media', fact: 'hits' } },
  { name: 'channel', title: 'Channel', type: 'enum' },
] as const

test('names each contract once', () => {
  expect(listContracts(inputs)).toEqual(['registry', 'media'])
})

test('takes the newest answer, else a provider to ask, else typed values, unless chosen otherwise', () => {
  const calls = [
    { call_id: 'new', contract_key: 'registry' },
    { call_id: 'old', contract_key: 'registry' },
  ]
  const offered = [
    { provider_key: 'register', contract_key: 'registry' },
    { provider_key: 'newswire', contract_key: 'media' },
  ]
  const contracts = ['registry', 'media', 'owners']
  expect(chooseSources(contracts, {}, { calls, offered })).toEqual({
    registry: { kind: 'call', call_id: 'new' },
    media: { kind: 'ask', provider_key: 'newswire', input: {} },
    owners: { kind: 'typed' },
  })
  expect(chooseSources(['registry'], { registry: { kind: 'typed' } }, { calls, offered })).toEqual({
    registry: { kind: 'typed' },
  })
})

test('asks for the inputs that no answer gives', () => {
  const sources: AnswerSources = { registry: { kind: 'call', call_id: 'c1' } }
  expect(listTypedInputs(inputs, sources).map(({ name }) => name)).toEqual(['media', 'channel'])
})

test('sends cited calls and providers to ask apart', () => {
  expect(buildAnswerRequest({ registry: { kind: 'call', call_id: 'c1' }, media: { kind: 'typed' } })).toEqual({
    call_ids: ['c1'],
    ask: null,
  })
  const media = { kind: 'ask', provider_key: 'newswire', input: { name: 'Ada' } } as const
  expect(buildAnswerRequest({ registry: { kind: 'call', call_id: 'c1' }, media })).toEqual({
    call_ids: ['c1'],
    ask: { providers: { media: 'newswire' }, call_inputs: { media: { name: 'Ada' } } },
  })
})
