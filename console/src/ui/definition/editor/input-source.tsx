/** Where the value of an input may come from: a fact of a source contract in force. */
import { Select, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import {
  contractKind,
  definitionsQuery,
  type Finding,
  getDefinitionKey,
  textQuery,
} from '#console/ui/decision/definition-kind.ts'
import type { Input } from '#console/ui/decision/definition-model.ts'
import { FactLink } from '../fact-link.tsx'
import { getFaultText } from './faults.tsx'

interface InputSourceProps {
  readonly input: Input
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (change: (input: Input) => Input) => void
}

const includeCurrent = (choices: readonly string[], current: string | undefined): string[] =>
  current === undefined || current === '' || choices.includes(current) ? [...choices] : [...choices, current]

export function InputSource({ input: { from }, pointer, findings, onChange }: InputSourceProps) {
  const may = usePermission()
  const { data: contracts = [] } = useQuery({
    ...definitionsQuery(contractKind),
    staleTime: 60_000,
    enabled: may('listSourceContracts'),
    throwOnError: false,
  })
  // An own contract in force replaces the shared one of the same key.
  const active = contracts.filter((one) => one.active !== null)
  const chosen =
    active.find((one) => getDefinitionKey(one) === from?.contract_key && one.origin === 'own') ??
    active.find((one) => getDefinitionKey(one) === from?.contract_key)
  const { data: text } = useQuery({
    ...textQuery(contractKind, from?.contract_key ?? '', chosen?.active?.version ?? 0, chosen?.origin ?? 'shared'),
    enabled: chosen !== undefined,
    throwOnError: false,
  })
  const declared = text?.definition['facts']
  const facts = (Array.isArray(declared) ? declared : []).map(({ name }: { name: string }) => name)
  const fault = (member: string) => getFaultText(findings, `${pointer}/from/${member}`)
  return (
    <Stack gap={4}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <Select
          label="Source contract"
          description="An answer of a provider that keeps this contract may give the value."
          placeholder="none"
          clearable
          searchable
          data={includeCurrent([...new Set(active.map(getDefinitionKey))], from?.contract_key)}
          value={from?.contract_key ?? null}
          error={fault('contract_key') ?? getFaultText(findings, `${pointer}/from`)}
          onChange={(contract_key) =>
            onChange(({ from: _, ...now }) =>
              contract_key === null ? now : { ...now, from: { contract_key, fact: '' } },
            )
          }
          clearButtonProps={{ 'aria-label': 'No source contract' }}
        />
        {from && (
          <Select
            label="Fact"
            description="Its type must fit the type of the input."
            placeholder="Choose a fact"
            searchable
            data={includeCurrent(facts, from.fact)}
            value={from.fact === '' ? null : from.fact}
            error={fault('fact')}
            onChange={(fact) =>
              fact !== null && onChange((now) => ({ ...now, from: { contract_key: from.contract_key, fact } }))
            }
          />
        )}
      </SimpleGrid>
      {from && from.fact !== '' && <FactLink of={from} />}
    </Stack>
  )
}
