/** Where people have overridden the rating, their band is known to be right: what the matrix says of it today, and would say. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { PlainTable } from '../plain-table.tsx'
import { classifyTurn, describeAgreement } from './known-outcome-texts.ts'
import { BandMark } from './outcome.tsx'

type Result = NonNullable<Schemas['ImpactRun']['result']>
type Known = NonNullable<Result['known_outcomes']>

const turnColors = { 'comes to agree': 'var(--added)', 'no longer agrees': 'var(--removed)' } as const

export function KnownOutcomes({ result }: { readonly result: Result }) {
  // Only matrices give bands that a person can override.
  if (result.transitions.every(({ family }) => family === 'rule')) return null
  const known = result.known_outcomes
  if (known === null) return <Note>How it agrees with overrides was not recorded with this measurement.</Note>
  if (known.decisions === 0) return <Note>None of these subjects has an override to hold the ratings against.</Note>
  return (
    <Stack gap="xs">
      <Text size="sm">{describeAgreement(known)}</Text>
      <OutcomeTable rows={known.table} />
    </Stack>
  )
}

function Note({ children }: { readonly children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  )
}

function OutcomeTable({ rows }: { readonly rows: Known['table'] }) {
  const isOfSeveral = new Set(rows.map(({ key }) => key)).size > 1
  return (
    <PlainTable
      label="Ratings held against overrides"
      head={[{ name: 'A person says' }, { name: 'Today' }, { name: 'With the change' }, { name: 'Decisions' }]}
    >
      {rows.map((row) => (
        <Table.Tr key={`${row.key} ${row.outcome} ${row.before} ${row.after}`}>
          <Table.Td>
            <BandMark band={row.outcome} />
            {isOfSeveral && (
              <Text size="xs" c="dimmed" className="mono">
                {row.key}
              </Text>
            )}
          </Table.Td>
          <Table.Td>
            <Rated band={row.before} />
          </Table.Td>
          <Table.Td>
            <Rated band={row.after} />
            <Turn of={row} />
          </Table.Td>
          <Table.Td>{row.decisions.toLocaleString('en')}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  )
}

function Rated({ band }: { readonly band: string | null }) {
  return band === null ? <span className="quiet">refused</span> : <BandMark band={band} />
}

function Turn({ of }: { readonly of: Known['table'][number] }) {
  const turn = classifyTurn(of)
  return (
    <Text size="xs" c={turn in turnColors ? turnColors[turn as keyof typeof turnColors] : 'dimmed'}>
      {turn}
    </Text>
  )
}
