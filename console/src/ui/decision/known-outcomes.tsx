/** Compares the bands of a matrix, before and after a change, with the bands that users set by overrides. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { PlainTable } from '../plain-table.tsx'
import { classifyChange, describeAgreement } from './known-outcome-texts.ts'
import { BandMark } from './outcome.tsx'

type Result = NonNullable<Schemas['ImpactRun']['result']>
type Known = NonNullable<Result['known_outcomes']>

const changeColors = { 'agrees after the change': 'var(--added)', 'no longer agrees': 'var(--removed)' } as const

export function KnownOutcomes({ result }: { readonly result: Result }) {
  // Only matrices return bands, which can be overridden.
  if (result.transitions.every(({ family }) => family === 'rule')) return null
  const known = result.known_outcomes
  if (known === null) return <Note>Agreement with overrides was not recorded with this analysis.</Note>
  if (known.decisions === 0) return <Note>None of these subjects has an override to compare with.</Note>
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
      label="Ratings compared with overrides"
      empty={null}
      head={[{ name: 'Override' }, { name: 'Today' }, { name: 'With the change' }, { name: 'Decisions' }]}
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
  return band === null ? <span className="quiet">no decision</span> : <BandMark band={band} />
}

function Turn({ of }: { readonly of: Known['table'][number] }) {
  const change = classifyChange(of)
  return (
    <Text size="xs" c={change in changeColors ? changeColors[change as keyof typeof changeColors] : 'dimmed'}>
      {change}
    </Text>
  )
}
